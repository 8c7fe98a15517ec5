import { basename } from 'node:path'

/** How programs complete the name of a script or of a folder. */
const endings = ['', '.js', '.mjs', '.cjs', '.ts', '/index.js', '/index.mjs', '/index.cjs', '/package.json']
/** Programs that look up in these files of the workspace what they run. */
const launchers: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...['npm', 'npx', 'pnpm', 'pnpx', 'yarn', 'bun', 'bunx'].map((name) => [name, ['package.json', '.npmrc']] as const),
  ['make', ['Makefile', 'makefile']],
  ['just', ['justfile']],
  ['deno', ['deno.json', 'deno.jsonc']],
  ['cargo', ['Cargo.toml']],
  ['uv', ['pyproject.toml']],
])
/** Of a command with more words, only the files that they name exactly are looked for. */
const wordsMax = 200

/** Returns the paths of files that a program may run if its command has these words, whether or not they exist. */
export function filesNamedBy(words: readonly string[]): readonly string[] {
  const looked = words.flatMap((word) => launchers.get(basename(word)) ?? [])
  const tried = words.length > wordsMax ? [''] : endings
  return [...new Set([...words.flatMap((word) => tried.map((ending) => `${word}${ending}`)), ...looked])]
}
