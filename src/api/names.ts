/**
 * The name shapes that Kubernetes objects share. Each `…Fault` function answers what is wrong with the text, or
 * undefined where nothing is.
 */

const namePart = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const longestNamePart = 63;
const longestSubdomain = 253;

export function isDnsSubdomain(text: string): boolean {
  return text.length <= longestSubdomain && dnsSubdomain.test(text);
}

/** A label key, which is also the shape of taint keys and resource names: `name` or `prefix.example/name`. */
export function labelKeyFault(key: string): string | undefined {
  const parts = key.split('/');
  if (parts.length > 2) return 'must have at most one slash (prefix/name)';
  const [first = '', second] = parts;
  if (second !== undefined && !isDnsSubdomain(first)) {
    return `its prefix must be a DNS name in lower case with at most ${longestSubdomain} characters`;
  }
  const name = second ?? first;
  if (name === '') return 'must have a name that is not empty';
  if (name.length > longestNamePart) return `its name must have at most ${longestNamePart} characters`;
  if (!namePart.test(name)) {
    return "its name must consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit";
  }
  return undefined;
}

export function labelValueFault(value: string): string | undefined {
  if (value === '') return undefined;
  if (value.length > longestNamePart) return `must have at most ${longestNamePart} characters`;
  if (!namePart.test(value)) {
    return "must be empty or consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit";
  }
  return undefined;
}
