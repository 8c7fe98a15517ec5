import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** What a document promises of one of its commands. */
export type Promised = {
  /** The command as the document has it, without its comment. */
  readonly line: string
  /** Shell commands that set the stage, and the names of `as`. */
  readonly given?: string
  /** The command with names of this trial in place of the examples' names. */
  readonly as?: string
  /** What the person types. */
  readonly input?: string
  readonly prints?: RegExp
  /** What is said on stderr. */
  readonly says?: RegExp
  /** The exit code, 0 by default. */
  readonly code?: number
}

export type Ran = { readonly line: string; readonly code: number; readonly out: string; readonly err: string }

/** Returns the lines of the shell blocks of a document that name the program, in order, without their comments. */
export function commandsOf(path: string): readonly string[] {
  const text = readFileSync(join(root, path), 'utf8')
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, language = '', block = '']) =>
    ['', 'sh', 'bash', 'shell', 'console'].includes(language)
      ? block
          .split('\n')
          .map((line) => line.replace(/\s+#.*$/, '').trim())
          .filter((line) => /holdfast|^cd /.test(line))
      : [],
  )
}

/** Runs commands in one shell, in a home of its own and a folder that looks like a clone, as a person would who copies them. */
export async function runDocumented(promised: readonly Promised[]): Promise<readonly Ran[]> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hf-docs-')))
  const [person, clone, printed] = [join(base, 'person'), join(base, 'clone'), join(base, 'printed')]
  for (const folder of [person, clone, printed, join(person, 'my-project')]) mkdirSync(folder)
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
  cpSync(join(root, 'README.md'), join(clone, 'README.md'))
  const steps = promised.map(({ line, as = line, given = '', input = '' }, index) => {
    const file = join(printed, String(index))
    writeFileSync(`${file}.in`, input)
    return `${given}\n${as} <'${file}.in' >'${file}.out' 2>'${file}.err'; echo $? >'${file}.code'\n`
  })
  // As npx does it: the programs of the clone come first.
  const start = `shopt -s expand_aliases
npx() { PATH="$PWD/node_modules/.bin:$PATH" "$@"; }
holdfast() { '${root}/node_modules/.bin/node' '${root}/packages/holdfast/bin/holdfast.mjs' "$@"; }
`
  const { ANTHROPIC_API_KEY, HOLDFAST_TOKEN, FORCE_COLOR, ...inherited } = process.env
  const shell = spawn('bash', ['-c', `${start}${steps.join('')}exit 0`], {
    timeout: 100_000,
    cwd: clone,
    env: {
      ...inherited,
      HOME: person,
      XDG_CACHE_HOME: join(tmpdir(), 'hf-docs-cache'),
      NO_COLOR: '1',
      HOLDFAST_HOME: join(base, 'home'),
      HOLDFAST_LOCAL_MODELS: 'off',
      DEMO_PACE: '0',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  shell.stderr.on('data', (chunk) => {
    said += chunk
  })
  const code = await new Promise((done) => shell.on('close', done))
  if (code !== 0) throw new Error(`The shell ended with ${code}: ${said}`)
  const read = (index: number, kind: string) => readFileSync(join(printed, `${index}.${kind}`), 'utf8')
  const ran = promised.map(({ line }, index) => ({
    line,
    code: Number(read(index, 'code')),
    out: read(index, 'out'),
    err: read(index, 'err'),
  }))
  rmSync(base, { recursive: true, force: true })
  return ran
}
