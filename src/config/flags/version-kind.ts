import { parseGoBool } from '../rules/go-bool.ts';
import { KUBERNETES_VERSION } from '../version.ts';
import { bad, type Kind, value } from './kind.ts';

/** `--version`, `--version=raw`, or a version to report: the built-in one with a pre-release or build part added. */
export const version: Kind<string> = {
  label: '',
  bare: 'true',
  parse: (text) => {
    if (text === 'raw' || isVariant(text)) return value(text);
    const parsed = parseGoBool(text);
    return parsed === undefined ? bad(`true, false, raw or ${KUBERNETES_VERSION}-SUFFIX`) : value(String(parsed));
  },
  format: (text) => text,
};

function isVariant(text: string): boolean {
  if (!text.startsWith(KUBERNETES_VERSION)) return false;
  return /^(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/.test(
    text.slice(KUBERNETES_VERSION.length),
  );
}
