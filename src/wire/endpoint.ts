import { CodedError } from '../base/errors.ts';

/** What fits into `sun_path` with its closing NUL. */
const LONGEST_PATH = 107;

/** `unix:///run/x.sock`, `unix:/run/x.sock` or a bare absolute path, to the path of the socket. */
export function parseUnixEndpoint(endpoint: string): string {
  const path = endpoint.startsWith('unix://')
    ? endpoint.slice(7)
    : endpoint.startsWith('unix:')
      ? endpoint.slice(5)
      : endpoint;
  if (!path.startsWith('/') || path.includes('\0')) {
    throw new CodedError(
      'invalid',
      `endpoint "${endpoint}": only Unix sockets are supported, as unix:///path or /path`,
    );
  }
  const length = Buffer.byteLength(path);
  if (length > LONGEST_PATH) {
    throw new CodedError(
      'invalid',
      `endpoint "${endpoint}": the path has ${length} bytes, a Unix socket's at most ${LONGEST_PATH}`,
    );
  }
  return path;
}
