import { escapeHidden } from '@holdfast/protocol/hostile-text'

/** Splits the output of running commands into lines, each with the state it was last written over with. */
export function createCommandLines() {
  const open = new Map<number, string>()
  return {
    /** Returns the lines that `text` completes. */
    add(call: number, text: string): readonly string[] {
      const lines = `${open.get(call) ?? ''}${text}`.split('\n')
      open.set(call, (lines.pop() ?? '').slice(-openCharsMax))
      return lines.map(shownLine)
    },
    /** Returns the last line of a call that ended without a line feed, or null. */
    end(call: number): string | null {
      const rest = open.get(call) ?? ''
      open.delete(call)
      return rest === '' ? null : shownLine(rest)
    },
  }
}

const openCharsMax = 64 * 1024
const sequences = /\u001b\[[\d;?]*[ -/]*[@-~]/g

function shownLine(line: string): string {
  const plain = line.replace(sequences, '').replace(/(?<!\r)\r+$/, '')
  return `  │ ${escapeHidden(plain.slice(plain.lastIndexOf('\r') + 1))}`
}
