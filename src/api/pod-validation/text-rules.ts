/** The shapes of the texts in a pod. Each rule answers what is wrong with a text, or undefined. */
import { labelKeyFault } from '../names.ts';
import type { TextRule } from './faults.ts';

const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const SUBDOMAIN_WITH_UNDERSCORES = /^[a-z0-9_](?:[-a-z0-9_]*[a-z0-9_])?(?:\.[a-z0-9_](?:[-a-z0-9_]*[a-z0-9_])?)*$/;
const LONGEST_LABEL = 63;
const LONGEST_SUBDOMAIN = 253;
const LONGEST_PORT_NAME = 15;

export const dnsLabel: TextRule = (text) => {
  if (text.length > LONGEST_LABEL) return `must be no more than ${LONGEST_LABEL} characters`;
  if (LABEL.test(text)) return undefined;
  return SUBDOMAIN.test(text)
    ? 'must not contain dots'
    : "must consist of lower case letters, digits and '-', and begin and end with a letter or digit";
};

function subdomain(text: string, shape: RegExp, characters: string): string | undefined {
  if (text.length > LONGEST_SUBDOMAIN) return `must be no more than ${LONGEST_SUBDOMAIN} characters`;
  if (shape.test(text)) return undefined;
  return `must consist of lower case letters, digits, ${characters}, and begin and end with a letter or digit`;
}

export const dnsSubdomain: TextRule = (text) => subdomain(text, SUBDOMAIN, "'-' and '.'");

/** A DNS name as resolvers take it in search lists, with or without the dot at its end. */
export const searchDomain: TextRule = (text) =>
  text === '.' ? undefined : subdomain(text.replace(/\.$/, ''), SUBDOMAIN_WITH_UNDERSCORES, "'-', '_' and '.'");

export const qualifiedName: TextRule = labelKeyFault;

/** Keys of annotations are case-sensitive, but are validated without regard to case. */
export const annotationKey: TextRule = (text) => labelKeyFault(text.toLowerCase());

export const portName: TextRule = (text) => {
  if (text.length > LONGEST_PORT_NAME) return `must be no more than ${LONGEST_PORT_NAME} characters`;
  if (!/^[-a-z0-9]+$/.test(text)) return "must contain only lower case letters, digits and '-'";
  if (!/[a-z]/.test(text)) return 'must contain at least one letter (a-z)';
  if (text.includes('--')) return 'must not contain consecutive hyphens';
  return text.startsWith('-') || text.endsWith('-') ? 'must not begin or end with a hyphen' : undefined;
};

export const envName: TextRule = (text) =>
  /^[\x20-\x3c\x3e-\x7e]+$/.test(text) ? undefined : "must consist of printable ASCII characters other than '='";

export const objectKey: TextRule = (text) => {
  if (text.length > LONGEST_SUBDOMAIN) return `must be no more than ${LONGEST_SUBDOMAIN} characters`;
  if (!/^[-._a-zA-Z0-9]+$/.test(text)) return "must consist of letters, digits, '-', '_' and '.'";
  if (text === '.' || text === '..') return `must not be '${text}'`;
  return text.startsWith('..') ? "must not start with '..'" : undefined;
};

export const headerName: TextRule = (text) =>
  /^[-A-Za-z0-9]+$/.test(text) ? undefined : "must consist of letters, digits and '-'";

export const withoutBackSteps: TextRule = (text) =>
  text.split('/').includes('..') ? "must not contain '..'" : undefined;

/** A path below something: neither from the root nor out of it again. */
export const relativePath: TextRule = (text) =>
  text.startsWith('/') ? 'must be a relative path' : withoutBackSteps(text);

/** The names that begin with two dots belong to the kubelet in volumes it writes. */
export const volumeFilePath: TextRule = (text) =>
  relativePath(text) ?? (text.startsWith('..') ? "must not start with '..'" : undefined);
