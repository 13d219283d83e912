/** Files made from config maps and secrets: many pods share one object, so each form of it is made once and kept as long as the object. */
import type { Parsed } from '../../api/parsed.ts';
import { waiting } from '../kind.ts';
import {
  type ConfigMapContent,
  configMapPayload,
  type KeyedSource,
  type Payload,
  type SecretContent,
  secretPayload,
} from '../rules/payload.ts';
import type { ContentAnswer } from './object-volume.ts';

/** As src/objects/ answers. */
export type ObjectAnswer<T> =
  | { readonly kind: 'found'; readonly object: T }
  | { readonly kind: 'missing'; readonly message: string };

/** A key or an object that is missing is waited for, unless the source is optional. */
export interface Payloads {
  configMap(answer: ObjectAnswer<ConfigMapContent>, source: KeyedSource): ContentAnswer;
  secret(answer: ObjectAnswer<SecretContent>, source: KeyedSource): ContentAnswer;
}

const MOST_FORMS = 16;

export function createPayloads(): Payloads {
  return { configMap: sharedForms(configMapPayload), secret: sharedForms(secretPayload) };
}

function sharedForms<T extends object>(
  make: (source: KeyedSource, content: T | Record<string, never>) => Parsed<Payload>,
): (answer: ObjectAnswer<T>, source: KeyedSource) => ContentAnswer {
  // Objects don't change: another version is another object.
  const forms = new WeakMap<T, Map<string, Parsed<Payload>>>();
  return (answer, source) => {
    if (answer.kind === 'missing') {
      return source.optional ? contentOf(make(source, {})) : waiting(answer.message);
    }
    const { items = [], defaultMode, optional } = source;
    const key = JSON.stringify([items, defaultMode, optional]);
    const ofObject = forms.get(answer.object) ?? new Map<string, Parsed<Payload>>();
    forms.set(answer.object, ofObject);
    const made = ofObject.get(key) ?? make(source, answer.object);
    ofObject.set(key, made);
    // The first is the oldest. Pods that ask for ever new forms of one object must not fill the memory.
    for (const oldest of ofObject.keys()) {
      if (ofObject.size <= MOST_FORMS) break;
      ofObject.delete(oldest);
    }
    return contentOf(made);
  };
}

function contentOf(made: Parsed<Payload>): ContentAnswer {
  return made.ok ? { kind: 'content', payload: made.value } : waiting(made.problem);
}
