/** The token that this tab was given: for logs, shells and the end of pods. It is not kept beyond the tab. */
import { useEffect, useState } from 'preact/hooks';

const KEY = 'token';
const CHANGED = 'kubelet-session';

export interface Session {
  readonly token: string;
  readonly name: string;
  readonly mayWrite: boolean;
}

let session: Session | undefined;

export const headers = (): Record<string, string> =>
  session === undefined ? {} : { Authorization: `Bearer ${session.token}` };

/** Browsers send no headers with a WebSocket: the token is among its protocols, as Kubernetes has it. */
export const protocols = (): readonly string[] =>
  session === undefined ? [] : [`base64url.bearer.authorization.k8s.io.${encoded(session.token)}`];

const encoded = (text: string): string => btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

/** Why it failed; undefined: it did not. */
export async function logIn(token: string): Promise<string | undefined> {
  const answer = await fetch('/page/login', { headers: { Authorization: `Bearer ${token}` } });
  if (!answer.ok) return answer.status === 401 ? 'This token is not valid here.' : await answer.text();
  session = { token, ...(await answer.json()) } as Session;
  sessionStorage.setItem(KEY, token);
  dispatchEvent(new Event(CHANGED));
  return undefined;
}

export function logOut(): void {
  session = undefined;
  sessionStorage.removeItem(KEY);
  dispatchEvent(new Event(CHANGED));
}

/** `#token=…` in the address, as `make run` prints it, logs in and is removed at once. */
export async function resumeSession(): Promise<void> {
  const given = /^#token=([\w.~-]+)$/.exec(location.hash)?.[1];
  if (given !== undefined) history.replaceState(null, '', '#/');
  const token = given ?? sessionStorage.getItem(KEY);
  if (token !== null && (await logIn(token)) !== undefined) sessionStorage.removeItem(KEY);
}

export function useSession(): Session | undefined {
  const [shown, show] = useState(session);
  useEffect(() => {
    const changed = () => show(session);
    addEventListener(CHANGED, changed);
    changed();
    return () => removeEventListener(CHANGED, changed);
  }, []);
  return shown;
}
