/** Where a kubeconfig has its certificates and keys. */
/** PEM text, in the kubeconfig itself or in a file of its own, whose path is as it was written. */
export type PemSource =
  | { readonly kind: 'inline'; readonly pem: string }
  | { readonly kind: 'file'; readonly path: string };

/** Records a problem of a field; returns undefined, so that it can be used in place of the value. */
export type Complain = (field: string, what: string) => undefined;

type PemFields<Raw> = { readonly data: keyof Raw & string; readonly file: keyof Raw & string };

export function readPem<Raw extends object>(
  raw: Raw,
  fields: PemFields<Raw>,
  path: string,
  complain: Complain,
): PemSource | undefined {
  const data = String(raw[fields.data] ?? '');
  const file = String(raw[fields.file] ?? '');
  if (data !== '' && file !== '') return complain(`${path}.${fields.file}`, `must not be given beside ${fields.data}`);
  if (file !== '') return { kind: 'file', path: file };
  if (data === '') return undefined;
  const pem = decodeBase64(data);
  if (pem === undefined) return complain(`${path}.${fields.data}`, 'must be base64');
  if (!pem.includes('-----BEGIN ')) return complain(`${path}.${fields.data}`, 'must hold PEM text in base64');
  return { kind: 'inline', pem };
}

function decodeBase64(text: string): string | undefined {
  const joined = text.replace(/[\r\n]/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(joined) || joined.length % 4 !== 0) return undefined;
  return Buffer.from(joined, 'base64').toString('latin1');
}
