const others: Readonly<Record<string, string>> = {
  asm: 'x86asm',
  'c++': 'cpp',
  cc: 'cpp',
  clj: 'clojure',
  cs: 'csharp',
  docker: 'dockerfile',
  ex: 'elixir',
  exs: 'elixir',
  gql: 'graphql',
  h: 'c',
  hpp: 'cpp',
  hs: 'haskell',
  hxx: 'cpp',
  jl: 'julia',
  kt: 'kotlin',
  kts: 'kotlin',
  make: 'makefile',
  mk: 'makefile',
  ml: 'ocaml',
  'objective-c': 'objectivec',
  objc: 'objectivec',
  pl: 'perl',
  postgres: 'sql',
  proto: 'protobuf',
  ps1: 'powershell',
  pwsh: 'powershell',
  rb: 'ruby',
  tex: 'latex',
  toml: 'ini',
  wat: 'wasm',
  'c#': 'csharp',
  erl: 'erlang',
  conf: 'ini',
  cfg: 'ini',
  sqlite: 'sql',
  mysql: 'sql',
  console: 'bash',
  shell: 'bash',
  terminal: 'bash',
  jsonc: 'json',
  json5: 'json',
  vue: 'xml',
  svelte: 'xml',
  mts: 'typescript',
  cts: 'typescript',
  zshrc: 'bash',
  bashrc: 'bash',
  jsonl: 'json',
  patch: 'diff',
}

/** Returns the name that highlight.js has for a language, as far as it does not know the alias itself. */
export function languageOf(name: string): string {
  const lower = name.toLowerCase()
  return Object.hasOwn(others, lower) ? (others[lower] ?? lower) : lower
}

/** Returns the language of a file by its name; empty if there is none. */
export function languageOfPath(path: string): string {
  const name = path.split(/[\\/]/u).at(-1)?.toLowerCase() ?? ''
  if (name === 'dockerfile' || name === 'makefile') return name
  const dot = name.lastIndexOf('.')
  return dot <= 0 || dot === name.length - 1 ? '' : name.slice(dot + 1)
}
