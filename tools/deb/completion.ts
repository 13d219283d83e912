/** Completion of flags for bash, made from the table of flags. */
import type { Flag } from '../../src/config/flags/flag.ts';

/** Flags whose value is a path. */
const PATHS = /(^|-)(file|config|kubeconfig|dir|path|root-dir)$|^config|kubeconfig$/;

export function renderCompletion(table: readonly Flag[]): string {
  const names = table.map(({ name }) => `--${name}`).sort();
  const paths = names.filter((name) => PATHS.test(name.slice(2)));
  return `# bash completion for kubelet
_kubelet() {
  local current previous
  current=\${COMP_WORDS[COMP_CWORD]}
  previous=\${COMP_WORDS[COMP_CWORD - 1]}
  # Bash takes = for a word of its own.
  if [[ $current == = ]]; then current=; fi
  if [[ $previous == = ]]; then previous=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  COMPREPLY=()
  case $previous in
    ${paths.join(' | ')})
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
  esac
  if [[ $current == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '${names.join(' ')}' -- "$current"); fi
}
complete -o filenames -F _kubelet kubelet
`;
}
