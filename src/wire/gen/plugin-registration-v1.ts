// Made from proto/plugin-registration-v1.proto by tools/generate-wire.ts. Do not edit.
// Plugin registration v1, served by a plugin on a socket that the kubelet finds. Facts (names, numbers, types) only; see README.md in this directory for the dialect.
import { Kind, message, NO_ITEMS, Shape, type MessageType, type MethodType } from '../message.ts';

export interface PluginInfo {
  readonly type: string;
  readonly name: string;
  readonly endpoint: string;
  readonly supportedVersions: readonly string[];
}
export const PluginInfo: MessageType<PluginInfo> = message('pluginregistration.PluginInfo', () => ({ type: '', name: '', endpoint: '', supportedVersions: NO_ITEMS }), [
  [1, 'type', Kind.string],
  [2, 'name', Kind.string],
  [3, 'endpoint', Kind.string],
  [4, 'supportedVersions', Kind.string, Shape.list],
]);

export interface RegistrationStatus {
  readonly pluginRegistered: boolean;
  readonly error: string;
}
export const RegistrationStatus: MessageType<RegistrationStatus> = message('pluginregistration.RegistrationStatus', () => ({ pluginRegistered: false, error: '' }), [
  [1, 'pluginRegistered', Kind.bool],
  [2, 'error', Kind.string],
]);

export interface InfoRequest {}
export const InfoRequest: MessageType<InfoRequest> = message('pluginregistration.InfoRequest', () => ({}), []);

export interface RegistrationStatusResponse {}
export const RegistrationStatusResponse: MessageType<RegistrationStatusResponse> = message('pluginregistration.RegistrationStatusResponse', () => ({}), []);

export const Registration = {
  getInfo: { path: '/pluginregistration.Registration/GetInfo', request: InfoRequest, response: PluginInfo, serverStream: false } satisfies MethodType<InfoRequest, PluginInfo>,
  notifyRegistrationStatus: { path: '/pluginregistration.Registration/NotifyRegistrationStatus', request: RegistrationStatus, response: RegistrationStatusResponse, serverStream: false } satisfies MethodType<RegistrationStatus, RegistrationStatusResponse>,
};
