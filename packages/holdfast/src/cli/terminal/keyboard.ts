import { closeSync, openSync } from 'node:fs'
import { isatty, ReadStream } from 'node:tty'
import type { Input } from './prompt-user.ts'

/**
 * Returns a function that opens the terminal of this process to read keys: standard input, or the controlling terminal if
 * something is piped in. It returns null if there is none.
 */
export function createKeyboard(standardInput: () => Input): () => Input | null {
  let opened: Input | null | undefined
  return () => {
    opened ??= standardInput().isTTY === true ? standardInput() : openControllingTerminal()
    return opened
  }
}

function openControllingTerminal(): Input | null {
  let file: number
  try {
    file = openSync('/dev/tty', 'r')
  } catch {
    return null // no terminal, or a system without that file
  }
  if (isatty(file)) return new ReadStream(file)
  closeSync(file)
  return null
}
