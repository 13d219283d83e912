/** Is this a pod that can be created? All faults at once, in the words of the API server. */
import { type FieldError, required } from './field-error.ts';
import type { Pod } from './pod.ts';

export function validatePod(pod: Pod): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (pod.spec.containers.length === 0) errors.push(required('spec.containers'));
  pod.spec.containers.forEach((container, index) => {
    if (!container.name) errors.push(required(`spec.containers[${index}].name`));
    if (!container.image) errors.push(required(`spec.containers[${index}].image`));
  });
  return errors;
}
