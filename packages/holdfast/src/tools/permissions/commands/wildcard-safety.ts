import { findGuard } from '../../files/io/guarded-path.ts'
import { mayRunPrograms, readsFiles } from './git-commands.ts'
import { type OptionNames, programOf } from './known-programs.ts'

/**
 * Whether it is not certain that the words of a command which a wildcard covers are harmless. If the options of the program
 * are known, they may be names and all options but some. Of any other program they may be plain names: no option, no setting
 * such as `SHELL=x`, and no file that decides what other programs run.
 */
export function isUnsafeForWildcard(
  [program, ...words]: readonly [string, ...string[]],
  covered: readonly string[],
): boolean {
  if (covered.length === 0) return false
  const { knownOptions, isUnbounded, runs, operandsMax = words.length } = programOf(program)
  if (isUnbounded || countOperands(words) > operandsMax) return true
  // The shell runs what is in the index of a name, as in `read 'a[$(id)]'`.
  if (runs === 'names' && covered.some((word) => word.includes('['))) return true
  if (knownOptions === undefined) return covered.some((word) => !isPlainName(word))
  if (program === 'sed' && !isPlainSed(words, covered)) return true
  // A program of jq can read modules and data by a name that is only a part of a word.
  if (program === 'jq' && covered.some((word) => /\b(?:import|include|modulemeta)\b/.test(word))) return true
  if (program === 'ps' && mayPrintVariables(covered)) return true
  if (program === 'git' && (mayRunPrograms(words) || mayWriteGuarded(words, covered))) return true
  // Git runs programs for addresses such as ext::sh.
  return covered.some((word) => isOneOf(word, knownOptions) || word.includes('::'))
}

/** Whether a command of git may write a file that decides what other programs run, as `git mv` does. */
const mayWriteGuarded = ([command = '']: readonly string[], covered: readonly string[]): boolean =>
  !readsFiles.has(command) && covered.some((word) => findGuard(word) !== null)

function countOperands(words: readonly string[]): number {
  const end = words.includes('--') ? words.indexOf('--') : words.length
  return words.filter((word, index) => index > end || !/^-./.test(word)).length
}

const isPlainName = (word: string): boolean => !/^[-+@]|=|::/.test(word) && findGuard(word) === null

function isOneOf(word: string, { letters = '', words = [], long = [] }: OptionNames): boolean {
  if (words.some((one) => word.startsWith(one))) return true
  if (word.startsWith('--')) {
    const [name = ''] = word.slice(2).split('=', 1)
    // Programs take an abbreviation of a long option.
    return name !== '' && long.some((one) => one.startsWith(name))
  }
  return /^-./.test(word) && [...letters].some((letter) => word.includes(letter))
}

/**
 * Whether `ps` may print the variables of other programs, among which are keys: `ps e` and `ps auxe` do, and so does
 * `ps -u x -e` where no user is named `x`, because `ps` then reads all options as if they had no dash.
 */
function mayPrintVariables(words: readonly string[]): boolean {
  const dashed = words.filter((word) => /^-[^-]/.test(word) && /e/i.test(word))
  const plain = words.filter((word) => !word.startsWith('-'))
  if (plain.some((word) => /e/i.test(word)) || dashed.some((word) => !selectsAll.test(word))) return true
  return dashed.length > 0 && plain.some((word) => /^[a-z]+$/i.test(word))
}

/** `-e` selects all processes; these options may follow it in one word, and have no value but that of `o`. */
const selectsAll = /^-e[fFlLjHyZMwcT]*o?$/

/**
 * Whether the options of `sed` are all known and its scripts only select and replace: its commands `e` and `w` run programs
 * and write files. A script that the rule itself names is as its author wants it.
 */
function isPlainSed(words: readonly string[], covered: readonly string[]): boolean {
  const scripts: string[] = []
  const operands: string[] = []
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (word === '--') {
      operands.push(...words.slice(index + 1))
      break
    }
    if (sedScriptOption.test(word)) {
      // Some versions of sed take an option after the first operand for a file, and that operand for the script.
      if (operands.length > 0) return false
      scripts.push(words[++index] ?? '')
    } else if (/^-./.test(word)) {
      if (!sedFlags.test(word)) return false
    } else operands.push(word)
  }
  const [first = ''] = operands
  return (scripts.length > 0 ? scripts : [first]).every(
    (script) => !covered.includes(script) || plainScript.test(script),
  )
}

/** Options of `sed` without a value. It takes abbreviations of long ones, but a rule does not have to. */
const sedFlags = /^(?:-[nErsuz]+|--(?:quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|sandbox))$/
const sedScriptOption = /^(?:-[nErsuz]*e|--expression)$/

const address = String.raw`(?:(?:\d+|\$|/[^/\\\n]*/)(?:,(?:\d+|\$|/[^/\\\n]*/))?)?`
const plainScript = new RegExp(
  String.raw`^(?:${address}[pdq=]?(?:;|$))+$|^${address}s/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/[gpiI\d]*$`,
)
