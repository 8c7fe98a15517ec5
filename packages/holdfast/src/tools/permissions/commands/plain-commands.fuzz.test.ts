import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDice, type Dice } from '@holdfast/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parsePlainCommands } from './plain-commands.ts'

/** `FUZZ_TEXTS=200000 SEED=7` tries more texts, or others. */
const texts = Number(process.env['FUZZ_TEXTS'] ?? 2500)
const seed = Number(process.env['SEED'] ?? 1)

const pieces = [
  ...['git', 'ls', 'x', 'status', '-n', '5', 'a=b', 'CI=1', 'A=1', '%h', '/dev/null', '1', '2', '&1', 'a'],
  ...['if', 'then', 'fi', 'for', 'do', 'done', 'case', 'esac', '{', '}', '!', 'time', 'function', 'select', 'in', '[['],
  ...['coproc', 'while', '(', ')', '((', '))', '<(', '>(', '$(', '`', '${', '}', '$', '$x', "$'", '$"', '~', '*', '?'],
  ...[
    "'",
    '"',
    "''",
    '""',
    "'a b'",
    '"a b"',
    '\\',
    '\\\n',
    '#',
    '\n',
    '\n',
    '\t',
    ';',
    ';;',
    '&&',
    '||',
    '|',
    '|&',
    '&',
  ],
  ...[
    '>',
    '<',
    '>>',
    '<<',
    '<<<',
    '&>',
    '>&',
    '2>&1',
    '2>',
    '<&',
    '{a,b}',
    '[',
    ']',
    '=',
    '+=',
    ':',
    ',',
    '.',
    '@',
    '%',
  ],
  ...['\r', '\v', '\f', '\u00a0', '\u0085', '\ufeff', '\u2028', '\u3000', '\u200b', '\u0001', 'é', '!!', '^', '-'],
]

const randomText = (dice: Dice): string => {
  let text = dice.pick(['git', 'ls', 'x', '']) ?? ''
  for (let left = dice.below(9); left >= 0; left--)
    text += (dice.chance(2, 3) ? ' ' : '') + (dice.pick(dice.chance(1, 2) ? pieces : pieces.slice(0, 15)) ?? '')
  return text
}

/** Runs each text in a subshell in which no program is found, and records the words of every command. */
const recorder = `
command_not_found_handle() { printf '%s\\0' "$@" $'\\1' >&9; }
PATH=/nonexistent
while IFS= read -r -d '' text <&8; do
  ( eval "$text" ) >/dev/null 2>&1 </dev/null
  printf '\\2\\0' >&9
done
`

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-fuzz-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Returns the commands that bash runs for each text. */
function runInBash(accepted: readonly string[]): readonly (readonly string[])[] {
  const [input, output] = [join(folder, 'in'), join(folder, 'out')]
  writeFileSync(input, accepted.map((text) => `${text}\0`).join(''))
  execFileSync('bash', ['-c', `exec 8<"${input}" 9>"${output}"; ${recorder}`], { cwd: folder, stdio: 'ignore' })
  const runs = readFileSync(output, 'utf8').split('\u0002\0').slice(0, -1)
  return runs.map((run) => run.split('\u0001\0').slice(0, -1))
}

it(`returns only what bash runs: ${texts} random texts with seed ${seed}`, { timeout: 600_000 }, () => {
  const dice = createDice(seed)
  const accepted = new Map<string, readonly string[]>()
  for (let left = texts; left > 0; left--) {
    const text = randomText(dice)
    const plain = parsePlainCommands(text)
    if (plain) accepted.set(text, plain.map((words) => words.map((word) => `${word}\0`).join('')).toSorted())
  }
  const ran = runInBash([...accepted.keys()])
  const compared = [...accepted].map(([text, plain], index) => ({ text, plain, ran: ran[index] ?? ['nothing'] }))
  expect(compared.filter(({ plain, ran: seen }) => !seen.every((one) => plain.includes(one)))).toEqual([])
  // The comparison is worth something only if commands were accepted and seen.
  expect(accepted.size).toBeGreaterThan(texts / 100)
  expect(ran.filter((commands) => commands.length > 0).length).toBeGreaterThan(accepted.size / 2)
})
