import type { Tool, ToolArgs } from '@holdfast/core/ports'
import type { Dice } from '@holdfast/testkit'

/** What a random value may refer to. */
export type Known = {
  readonly beside: string
  /** The `host:port` that `fetch_url` may read. */
  readonly host: string
  /** The ids of commands in the background. */
  readonly ids: readonly string[]
}

/** A part of a JSON Schema. */
type Shape = {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly properties?: { readonly [name: string]: Shape }
  readonly required?: readonly string[]
  readonly items?: Shape
}

/** Returns arguments for a tool: most of them usable, some missing, of the wrong kind or of an absurd size. */
export function randomArgs(tool: Tool, dice: Dice, known: Known): ToolArgs {
  const args = randomObject(tool.schema.input as Shape, dice, known)
  return dice.chance(1, 50) ? { ...args, [pick(dice, words)]: junk(dice) } : args
}

function randomObject({ properties = {}, required = [] }: Shape, dice: Dice, known: Known): ToolArgs {
  const args: Record<string, unknown> = {}
  for (const [name, shape] of Object.entries(properties)) {
    if (dice.chance(1, required.includes(name) ? 40 : 2)) continue
    args[name] = dice.chance(1, 25) ? junk(dice) : randomValue(name, shape, dice, known)
  }
  return args
}

function randomValue(name: string, shape: Shape, dice: Dice, known: Known): unknown {
  if (shape.enum) return pick(dice, shape.enum)
  if (shape.type === 'boolean') return dice.chance(1, 2)
  if (shape.type === 'integer') return randomInteger(name, dice)
  if (shape.type === 'object') return randomObject(shape, dice, known)
  if (shape.type === 'array')
    return Array.from({ length: dice.below(4) }, () => randomValue(name, shape.items ?? {}, dice, known))
  if (name === 'id') return pick(dice, [...known.ids, ...known.ids, ...words])
  if (name === 'command') return pick(dice, commands)
  if (name === 'url') return randomUrl(dice, known)
  if (name === 'diff') return randomDiff(dice)
  if (name === 'pattern' || name === 'glob' || name === 'filter') return pick(dice, patterns)
  return /path/.test(name) ? randomPath(dice, known) : randomText(dice)
}

/** No call may take long, so the longest waits are short. */
const integers: { readonly [name: string]: readonly number[] } = {
  wait: [0, 0, 0, 1, -1, 61],
  timeout: [1, 2, 600, 0, 601],
  timeout_ms: [1, 50, 200, 0, 1e9],
}

const randomInteger = (name: string, dice: Dice): number =>
  pick(dice, integers[name] ?? [0, 1, 1, 2, 3, 10, 100, 1000, -1, 2 ** 31, Number.MAX_SAFE_INTEGER, 1.5])

const usual = ['notes.txt', 'bounded.txt', 'src/a.ts', 'src/deep/b.ts', 'crlf.txt', 'no-end.txt', '.', 'src']

const paths = [
  ...usual,
  ...['empty.txt', 'binary.bin'],
  ...['utf16.txt', 'latin.txt', 'image.png', 'paper.pdf', 'long.txt', 'page.html', 'with space.txt', 'with\nline.txt'],
  ...['-n/-rf', 'bläh/ü.txt', 'made.log', '.hidden/x', '.holdfast/MEMORY.md', '.gitignore', '.gitattributes'],
  ...['.git/config', '.git/hooks/pre-commit', '.git', '.git/HEAD', '.GIT/config', '.holdfast', '.holdfast/new'],
  ...['pipe', 'link-in', 'link-in-folder/a.ts', 'link-out', 'link-out-absolute', 'link-out-folder/secret.txt'],
  ...['link-out-folder/new.txt', 'link-up', 'link-up/work-sibling/notes.txt', 'link-dangling-in', 'link-dangling-out'],
  ...['link-loop', 'link-loop/x', 'link-chain/file.ts', 'link-pipe', 'hard-link.ts', 'src', 'empty', '.', './', ''],
  ...['..', '../outside/secret.txt', '../work-sibling/notes.txt', '../work', 'src/../../outside/new.txt', '~', '~/x'],
  ...['new.txt', 'new/deep/file.txt', 'notes.txt/below', 'src/', '//', 'a\0b', 'CON', ' ', '\ud800', 'x'.repeat(300)],
  ...['y/'.repeat(3000), '*.ts', '\u202etxt.exe', 'new\r\nline'],
]

/** Absolute paths lead only into the folders beside the workdir: a hole must not damage the machine. */
function randomPath(dice: Dice, { beside }: Known): string {
  const path = pick(dice, dice.chance(1, 3) ? usual : paths)
  if (dice.chance(1, 15)) return `${beside}/${pick(dice, ['outside/secret.txt', 'outside/new', 'work/notes.txt', ''])}`
  if (dice.chance(1, 10)) return `${pick(dice, ['./', 'src/../', 'link-in-folder/', 'empty/', './/'])}${path}`
  return path
}

/** Commands that change nothing outside the workdir. Not git: the config of the repository names programs. */
const commands = [
  ...['echo made > made.txt', 'rm -f notes.txt', 'mkdir -p d/e && echo x > d/e/f', 'mv src/a.ts moved.ts', 'exit 3'],
  ...[
    'ln -sfn ../outside late-link',
    'ln -sfn ../outside/secret.txt notes.txt',
    'rm -f notes.txt; printf "\\0\\1" > notes.txt',
  ],
  ...[
    'rm -f notes.txt; mkfifo notes.txt',
    'rm -rf notes.txt; printf "one\\ntwo\\n" > notes.txt',
    'kill -9 $$',
    'false',
  ],
  ...[
    'yes | head -c 200000',
    'printf "\\377\\0\\033[2J"',
    'sleep 0.01 & echo left',
    'cat link-out',
    'ls -la',
    'rm -rf src',
  ],
  ...['sed -i s/two/2/ bounded.txt', 'sed -i s/one/1/ bounded.txt', 'rm -f bounded.txt', 'echo "', '(((', '\n', ' # '],
  ...['touch x.txt', 'mkdir -p src; printf "needle\\n" > src/a.ts', 'echo a >&2', 'sleep 0.05'],
]

const diffs = [
  '@@\n-one\n+eins\n two\n',
  '@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n',
  '--- a/notes.txt\n+++ b/notes.txt\n@@ -9,1 +9,1 @@\n-three\n+drei\n',
  '--- a/../outside/secret.txt\n+++ b/../outside/secret.txt\n@@\n-one\n+1\n',
  '--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n',
  '@@\n+only added\n',
  '@@ -1 +1 @@\n-needle\n\\ No newline at end of file\n+pin\n',
  '*** Begin Patch\n*** Update File: notes.txt\n@@\n-one\n+1\n*** End Patch',
  '@@',
  '-two\n+2\n',
]

const randomDiff = (dice: Dice): string => (dice.chance(1, 4) ? randomText(dice) : pick(dice, diffs))

const patterns = [
  ...['*', '**/*.ts', '*.{ts,txt}', '{a,b}{c,d}{e,f}{g,h}', 'needle', 'one|two', '(', '[', '[a-', '\\', '(?=x)', '.*'],
  ...['^$', '(a+)+$', '\\x00', '!*', '/', '../*', '-rf', '--files', '\n', 'é', '{'.repeat(50), 'x'.repeat(2000), '\0'],
]

const addresses = ['127.0.0.1', '0x7f.1', '2130706433', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254', 'localhost']

function randomUrl(dice: Dice, { host }: Known): string {
  const page = pick(dice, ['/', '/short', '/loop', '/private', '/local', '/file', '/html', '/none'])
  if (dice.chance(1, 2)) return `http://${host}${page}`
  if (dice.chance(1, 2)) return `${pick(dice, ['http', 'https'])}://${pick(dice, addresses)}${page}`
  return pick(dice, ['file:///etc/passwd', 'ftp://x.invalid/', 'x', 'http://', 'http://no.invalid/', '//a', 'data:,x'])
}

const words = ['', 'a', 'x1', 'surprise', '__proto__', 'constructor', 'toString', 'length', 'path']
const passages = [
  'one',
  'two',
  'three',
  'one\ntwo',
  'needle',
  'export const a = 1',
  '\n',
  '\r\n',
  '',
  ' ',
  'é',
  '\ud800',
]
const rare = [
  '\0',
  '\u202e',
  '\ufeffx',
  '$&',
  '$1',
  '// ... existing code ...',
  'x'.repeat(100_000),
  'one\n'.repeat(2000),
]

const randomText = (dice: Dice): string =>
  dice.chance(1, 6) ? pick(dice, rare) : Array.from({ length: 1 + dice.below(3) }, () => pick(dice, passages)).join('')

const junk = (dice: Dice): unknown =>
  pick(dice, [null, [], {}, true, -1, 0, 1e308, '', 'x', ['x'], [null], { path: 'x' }, [[[[]]]], 'null', undefined])

function pick<Item>(dice: Dice, items: readonly Item[]): Item {
  return items[dice.below(items.length)] as Item // a list that is never empty
}
