import type { Volume } from '../../api/volume.ts';

/** The field that says what the volume is, for messages: `emptyDir`, `secret`, `csi`… */
export function volumeKind(volume: Volume): string {
  return Object.entries(volume).find(([key, value]) => key !== 'name' && value !== undefined)?.[0] ?? 'none';
}
