/** Files made from config maps and secrets: many pods share one object, so each form of it is made once and kept while it lives. */
import type { Parsed } from '../../api/parsed.ts';
import { CodedError } from '../../base/errors.ts';
import {
  type ConfigMapContent,
  configMapPayload,
  type KeyedSource,
  type Payload,
  type SecretContent,
  secretPayload,
} from '../rules/payload.ts';

/** As the part that looks after objects gives it. */
export type ObjectAnswer<T> =
  | { readonly kind: 'found'; readonly object: T }
  | { readonly kind: 'missing'; readonly message: string };

/** A key or an object that is not there is a CodedError, unless the source is optional. */
export interface Payloads {
  configMap(answer: ObjectAnswer<ConfigMapContent>, source: KeyedSource): Payload;
  secret(answer: ObjectAnswer<SecretContent>, source: KeyedSource): Payload;
}

const MOST_FORMS = 16;

export function createPayloads(): Payloads {
  return { configMap: sharedForms(configMapPayload), secret: sharedForms(secretPayload) };
}

function sharedForms<T extends object>(
  make: (source: KeyedSource, content: T | Record<string, never>) => Parsed<Payload>,
): (answer: ObjectAnswer<T>, source: KeyedSource) => Payload {
  // Objects don't change: another version is another object.
  const forms = new WeakMap<T, Map<string, Parsed<Payload>>>();
  return (answer, source) => {
    if (answer.kind === 'missing') {
      if (!source.optional) throw new CodedError('notFound', answer.message);
      return checked(make(source, {}));
    }
    const { items = [], defaultMode, optional } = source;
    const key = JSON.stringify([items, defaultMode, optional]);
    const ofObject = forms.get(answer.object) ?? new Map<string, Parsed<Payload>>();
    forms.set(answer.object, ofObject);
    const made = ofObject.get(key) ?? make(source, answer.object);
    ofObject.set(key, made);
    // The first is the oldest. Pods that ask for ever new forms of an object that stays must not fill the memory.
    for (const oldest of ofObject.keys()) {
      if (ofObject.size <= MOST_FORMS) break;
      ofObject.delete(oldest);
    }
    return checked(made);
  };
}

function checked(made: Parsed<Payload>): Payload {
  if (!made.ok) throw new CodedError('notFound', made.problem);
  return made.value;
}
