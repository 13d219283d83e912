/** Containers of a pod as the API has them (core/v1), defaults filled in where `api/defaults` has seen them. */
import type { LocalObjectReference, ResourceList } from './meta.ts';

export interface ObjectFieldSelector {
  readonly apiVersion?: string;
  readonly fieldPath: string;
}

export interface ResourceFieldSelector {
  readonly containerName?: string;
  readonly resource: string;
  readonly divisor?: string;
}

export interface KeySelector extends LocalObjectReference {
  readonly key: string;
  readonly optional?: boolean;
}

export interface FileKeySelector {
  readonly volumeName: string;
  readonly path: string;
  readonly key: string;
  readonly optional?: boolean;
}

export interface EnvVarSource {
  readonly fieldRef?: ObjectFieldSelector;
  readonly resourceFieldRef?: ResourceFieldSelector;
  readonly configMapKeyRef?: KeySelector;
  readonly secretKeyRef?: KeySelector;
  readonly fileKeyRef?: FileKeySelector;
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: EnvVarSource;
}

export interface EnvFromSource {
  readonly prefix?: string;
  readonly configMapRef?: LocalObjectReference & { readonly optional?: boolean };
  readonly secretRef?: LocalObjectReference & { readonly optional?: boolean };
}

export interface ContainerPort {
  readonly name?: string;
  readonly hostPort?: number;
  readonly containerPort: number;
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP';
  readonly hostIP?: string;
}

export interface ResourceClaim {
  readonly name: string;
  readonly request?: string;
}

export interface ResourceRequirements {
  readonly limits?: ResourceList;
  readonly requests?: ResourceList;
  readonly claims?: readonly ResourceClaim[];
}

export interface VolumeMount {
  readonly name: string;
  readonly readOnly?: boolean;
  readonly recursiveReadOnly?: 'Disabled' | 'IfPossible' | 'Enabled';
  readonly mountPath: string;
  readonly subPath?: string;
  readonly subPathExpr?: string;
  readonly mountPropagation?: 'None' | 'HostToContainer' | 'Bidirectional';
}

export interface VolumeDevice {
  readonly name: string;
  readonly devicePath: string;
}

export interface HttpHeader {
  readonly name: string;
  readonly value: string;
}

/** A port by number or by the name of a container port. */
export type IntOrString = number | string;

export interface HttpGetAction {
  readonly path?: string;
  readonly port: IntOrString;
  readonly host?: string;
  readonly scheme?: 'HTTP' | 'HTTPS';
  readonly httpHeaders?: readonly HttpHeader[];
}

export interface TcpSocketAction {
  readonly port: IntOrString;
  readonly host?: string;
}

export interface ExecAction {
  readonly command?: readonly string[];
}

export interface LifecycleHandler {
  readonly exec?: ExecAction;
  readonly httpGet?: HttpGetAction;
  readonly tcpSocket?: TcpSocketAction;
  readonly sleep?: { readonly seconds: number };
}

export interface Lifecycle {
  readonly postStart?: LifecycleHandler;
  readonly preStop?: LifecycleHandler;
  readonly stopSignal?: string;
}

export interface Probe {
  readonly exec?: ExecAction;
  readonly httpGet?: HttpGetAction;
  readonly tcpSocket?: TcpSocketAction;
  readonly grpc?: { readonly port: number; readonly service?: string };
  readonly initialDelaySeconds?: number;
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}

export interface SeccompProfile {
  readonly type: 'Unconfined' | 'RuntimeDefault' | 'Localhost';
  readonly localhostProfile?: string;
}

export type AppArmorProfile = SeccompProfile;

export interface SeLinuxOptions {
  readonly user?: string;
  readonly role?: string;
  readonly type?: string;
  readonly level?: string;
}

export interface SecurityContext {
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly privileged?: boolean;
  readonly seLinuxOptions?: SeLinuxOptions;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly procMount?: 'Default' | 'Unmasked';
  readonly seccompProfile?: SeccompProfile;
  readonly appArmorProfile?: AppArmorProfile;
}

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

export interface ContainerRestartRule {
  readonly action: 'Restart' | 'RestartAllContainers';
  readonly exitCodes?: { readonly operator: 'In' | 'NotIn'; readonly values?: readonly number[] };
}

export interface ContainerResizePolicy {
  readonly resourceName: string;
  readonly restartPolicy: 'NotRequired' | 'RestartContainer';
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly ports?: readonly ContainerPort[];
  readonly envFrom?: readonly EnvFromSource[];
  readonly env?: readonly EnvVar[];
  readonly resources?: ResourceRequirements;
  readonly resizePolicy?: readonly ContainerResizePolicy[];
  readonly restartPolicy?: RestartPolicy;
  readonly restartPolicyRules?: readonly ContainerRestartRule[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly volumeDevices?: readonly VolumeDevice[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: Lifecycle;
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: 'File' | 'FallbackToLogsOnError';
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  readonly securityContext?: SecurityContext;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
}

export interface EphemeralContainer extends Container {
  readonly targetContainerName?: string;
}
