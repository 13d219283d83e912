import { useState } from 'preact/hooks';
import { logIn, logOut, useSession } from './session.ts';

export function Login({ isPossible }: { readonly isPossible: boolean }) {
  const session = useSession();
  const [problem, setProblem] = useState<string>();
  if (!isPossible) return <p>No one can log in here: this node belongs to a cluster. Use kubectl.</p>;
  if (session !== undefined)
    return (
      <section>
        <p>
          You are <b>{session.name}</b>
          {session.mayWrite ? '.' : ', and may only read.'}
        </p>
        <button type="button" onClick={logOut}>
          Log out
        </button>
      </section>
    );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const token = String(new FormData(event.target as HTMLFormElement).get('token') ?? '').trim();
    logIn(token).then(setProblem, (error: unknown) => setProblem(String(error)));
  };
  return (
    <section>
      <h2>Log in</h2>
      <p>
        Logs, shells and the end of a pod need the token of the kubeconfig that the kubelet has written:{' '}
        <code>kubectl config view --raw -o jsonpath='{'{.users[0].user.token}'}'</code>
      </p>
      <form class="login" onSubmit={submit}>
        <label>
          Token <input name="token" type="password" autocomplete="off" required />
        </label>
        <button type="submit">Log in</button>
      </form>
      {problem !== undefined && <p role="alert">{problem}</p>}
    </section>
  );
}
