import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** The part of a string that is read. */
type Characters = { readonly length: number; charCodeAt(index: number): number }

/**
 * A path in the configuration of a repository: a folder of hooks (`core.hooksPath`), a word of the command of
 * `core.fsmonitor`, or a file with further settings.
 */
export type NamedPath = { readonly isHooks: boolean; readonly path: string; readonly isProgram?: true }

/** Configurations that people write are much shorter. */
const configBytesMax = 256 * 1024

/** Returns the beginning of a file of git as text; '' if it cannot be read. */
export async function readGitFile(path: string): Promise<string> {
  try {
    // A pipe must not hold up the reader.
    await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(configBytesMax), 0, configBytesMax, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } catch {
    return ''
  }
}

const code = (character: string): number => character.charCodeAt(0)
const [feed, tab, returned, blank, quote, hash] = [code('\n'), code('\t'), code('\r'), code(' '), code('"'), code('#')]
const [equals, semicolon, opening, closing] = [code('='), code(';'), code('['), code(']')]
const backslash = code('\\')

/** Values of `core.fsmonitor` that name no program. */
const switches = /^(?:true|false|yes|no|on|off|\d+)$/i

const isBlank = (unit: number): boolean => unit === blank || unit === tab || unit === returned

/**
 * Returns the paths that a configuration names. Each character is read once: a regular expression that also trims and
 * unquotes the value takes quadratic time.
 */
export function namedPaths(config: Characters): readonly NamedPath[] {
  const found = new Map<string, NamedPath>()
  let at = 0
  const unit = () => (at < config.length ? config.charCodeAt(at) : feed)
  const skip = (isSkipped: (unit: number) => boolean) => {
    while (at < config.length && isSkipped(config.charCodeAt(at))) at++
  }
  const readUntil = (isEnd: (unit: number) => boolean): string => {
    const units: number[] = []
    for (; at < config.length && !isEnd(config.charCodeAt(at)); at++) units.push(config.charCodeAt(at))
    return textOf(units)
  }
  const readValue = (): string => {
    const units: number[] = []
    let isQuoted = false
    /** How much of the value counts: blanks at its end do not. */
    let length = 0
    for (; at < config.length && unit() !== feed; at++) {
      if (!isQuoted && (unit() === hash || unit() === semicolon)) break
      if (unit() === quote) {
        isQuoted = !isQuoted
        continue
      }
      if (unit() === backslash) at++
      units.push(unit())
      if (isQuoted || !isBlank(unit())) length = units.length
    }
    return textOf(units.slice(0, length))
  }
  while (at < config.length) {
    skip((one) => isBlank(one) || one === feed)
    if (unit() === opening) {
      skip((one) => one !== closing && one !== feed)
      skip((one) => isBlank(one) || one === closing)
    }
    const key = readUntil((one) => isBlank(one) || one === equals || one === feed).toLowerCase()
    skip(isBlank)
    if (unit() === equals && (key === 'hookspath' || key === 'path' || key === 'fsmonitor')) {
      at++
      skip(isBlank)
      const value = readValue()
      const isProgram = key === 'fsmonitor'
      for (const path of isProgram ? value.split(/[\s'"]+/).filter((word) => !switches.test(word)) : [value])
        if (path !== '')
          found.set(`${key} ${path}`, { isHooks: key === 'hookspath', path, ...(isProgram && { isProgram }) })
    }
    skip((one) => one !== feed)
  }
  return [...found.values()]
}

/** Makes a text of parts: a call takes only so many arguments. */
function textOf(units: readonly number[]): string {
  let text = ''
  for (let from = 0; from < units.length; from += 1024) text += String.fromCharCode(...units.slice(from, from + 1024))
  return text
}
