export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Drops the last line of `__complete`, which is for kubectl. No space follows a word that ends in a slash. */
const BASH = `# bash completion of reroll: source <(reroll completion bash)
_reroll() {
  local words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD candidate colon=
  if declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref -n =: -w words -i cword
  fi
  COMPREPLY=()
  while IFS= read -r candidate; do
    [[ $candidate == :* ]] || COMPREPLY+=("$candidate")
  done < <(reroll __complete "\${words[@]:1:cword}" 2>/dev/null)
  [[ \${COMPREPLY[0]} == */ ]] && compopt -o nospace
  if declare -F __ltrim_colon_completions >/dev/null; then
    __ltrim_colon_completions "\${words[cword]}"
  fi
}
complete -F _reroll reroll
`;

const ZSH = `#compdef reroll
# zsh completion of reroll: source <(reroll completion zsh)
_reroll() {
  local -a candidates open whole
  candidates=(\${(f)"$(reroll __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  candidates=(\${candidates:#:*})
  open=(\${(M)candidates:#*/})
  whole=(\${candidates:#*/})
  (( \${#open} )) && compadd -S '' -a open
  (( \${#whole} )) && compadd -a whole
}
compdef _reroll reroll
`;

const FISH = `# fish completion of reroll: reroll completion fish | source
function __reroll_complete
    set -l words (commandline -opc)
    reroll __complete $words[2..] (commandline -ct) 2>/dev/null | string match -v ':*'
end
complete -c reroll -f -a '(__reroll_complete)'
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
