/** The file by which `kubelet drain` asks the kubelet of this machine to end its pods. */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';

/** Below the kubelet's root directory, where only root can write. */
export const DRAIN_REQUEST = 'drain_request.json';

export interface DrainRequest {
  /** A drain lasts until it is cancelled or the machine is booted again. */
  readonly bootId: string;
}

export function encodeDrainRequest({ bootId }: DrainRequest): string {
  return `${JSON.stringify({ version: 1, bootId })}\n`;
}

export function decodeDrainRequest(text: string): Parsed<DrainRequest> {
  try {
    const { version, bootId } = Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
    if (version === 1 && typeof bootId === 'string') return parsed({ bootId });
    return unparsable('version or bootId is wrong');
  } catch (error) {
    return unparsable(`not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
