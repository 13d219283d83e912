/** The content of an image: pulled with the images of containers and mounted by the runtime. Nothing is on disk here. */
import { ready, type VolumeKind } from '../kind.ts';

export function createImageKind(): VolumeKind {
  return {
    plugin: 'kubernetes.io/image',
    handles: (volume) => volume.image !== undefined,
    setUp: () => Promise.resolve(ready({ path: undefined })),
    tearDown: () => Promise.resolve(),
  };
}
