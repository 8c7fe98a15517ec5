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
  const { knownOptions, isUnbounded, operandsMax = words.length } = programOf(program)
  if (isUnbounded || countOperands(words) > operandsMax) return true
  if (knownOptions === undefined) return covered.some((word) => !isPlainName(word))
  if (program === 'sed' && !isPlainSed(covered)) return true
  // A program of jq can read modules and data by a name that is only a part of a word.
  if (program === 'jq' && covered.some((word) => /\b(?:import|include)\b/.test(word))) return true
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

/** Whether the script of `sed` only selects and replaces: its commands `e` and `w` run programs and write files. */
function isPlainSed(words: readonly string[]): boolean {
  const scripts = words.filter((_, index) => /^(-\w*e|--expression$)/.test(words[index - 1] ?? ''))
  const joined = words.filter((word) => /^(-\w*e.+|--expr\w*=)/.test(word))
  if (joined.length > 0) return false
  const first = words.find((word) => !word.startsWith('-'))
  return (scripts.length > 0 ? scripts : [first ?? '']).every((script) => plainScript.test(script))
}

const address = String.raw`(?:(?:\d+|\$|/[^/\\\n]*/)(?:,(?:\d+|\$|/[^/\\\n]*/))?)?`
const plainScript = new RegExp(
  String.raw`^(?:${address}[pdq=]?(?:;|$))+$|^${address}s/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/[gpiI\d]*$`,
)
