import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '../../api/pod.ts';
import { NamespaceMode } from '../../wire/gen/cri-runtime-v1.ts';
import { namespacesOf, ownUserNamespace, userNamespaceNeed } from './namespaces.ts';

const pod = (spec: Partial<PodSpec>): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [], ...spec },
});

test('what is shared with the node', () => {
  const { POD, CONTAINER, NODE } = NamespaceMode;
  const cases: readonly (readonly [Partial<PodSpec>, readonly number[]])[] = [
    [{}, [POD, POD, CONTAINER]],
    [{ hostIPC: true }, [NODE, POD, CONTAINER]],
    [{ hostNetwork: true }, [POD, NODE, CONTAINER]],
    [{ hostPID: true }, [POD, POD, NODE]],
    [{ shareProcessNamespace: true }, [POD, POD, POD]],
    [{ shareProcessNamespace: false }, [POD, POD, CONTAINER]],
  ];
  for (const [spec, want] of cases) {
    const { ipc, network, pid } = namespacesOf(pod(spec), undefined);
    assert.deepEqual([ipc, network, pid], want, JSON.stringify(spec));
  }
});

test('a user namespace of its own', () => {
  const need = (spec: Partial<PodSpec>, more: object = {}) => {
    const answer = userNamespaceNeed({
      pod: pod(spec),
      enabled: true,
      runtimeHandler: '',
      handlerSupports: true,
      ...more,
    });
    return answer.kind === 'problem' ? answer.message : answer.kind;
  };
  assert.equal(need({}), 'host');
  assert.equal(need({ hostUsers: true }), 'host');
  assert.equal(need({ hostUsers: false }), 'own');
  assert.equal(need({}, { enabled: false }), 'none');
  assert.equal(
    need({ hostUsers: false }, { enabled: false }),
    'the feature gate "UserNamespacesSupport" is disabled: can\'t set spec.HostUsers',
  );
  assert.equal(
    need({ hostUsers: false }, { handlerSupports: false }),
    "can't set `spec.hostUsers: false`, runtime does not support user namespaces",
  );
  assert.equal(
    need({ hostUsers: false }, { handlerSupports: false, runtimeHandler: 'kata' }),
    'can\'t set `spec.hostUsers: false`, RuntimeClass handler "kata" does not support user namespaces',
  );
  const mapping = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
  assert.deepEqual(ownUserNamespace({ hostId: 65_536, length: 65_536 }), {
    mode: NamespaceMode.POD,
    uids: mapping,
    gids: mapping,
  });
});
