/** Input of clients in log lines: always short, and without the values of parameters that carry credentials. */
const LONGEST_TARGET = 1024;
const LONGEST_NAME = 256;
const MOST_GROUPS = 16;
/** How much is parsed for parameters, so that masking does not depend on where the line is cut. */
const LONGEST_READ = 2 * LONGEST_TARGET;
const SECRET = /token|secret|passw|auth|credential|api[-_]?key|signature/i;

/** The target of a request line: the path, and the query without its secrets. */
export function shownTarget(target: string): string {
  const [path = '', query] = target.slice(0, LONGEST_READ).split(/\?(.*)/s);
  const shown = query === undefined ? path : `${path}?${query.split('&').map(shownParameter).join('&')}`;
  return shown.length > LONGEST_TARGET || target.length > LONGEST_READ
    ? cut(shown, LONGEST_TARGET, target.length)
    : shown;
}

function shownParameter(parameter: string): string {
  const [name = ''] = parameter.split('=', 1);
  const [decoded = ''] = new URLSearchParams(parameter).keys();
  return SECRET.test(decoded) ? `${name}=<masked>` : parameter;
}

/** The name of a user, or the user agent. */
export function shownName(text: string): string {
  return text.length > LONGEST_NAME ? cut(text, LONGEST_NAME, text.length) : text;
}

export function shownGroups(groups: readonly string[]): readonly string[] {
  const shown = groups.slice(0, MOST_GROUPS).map(shownName);
  return groups.length > MOST_GROUPS ? [...shown, `… of ${groups.length} groups`] : shown;
}

const cut = (text: string, most: number, length: number): string => `${text.slice(0, most)}… of ${length} characters`;
