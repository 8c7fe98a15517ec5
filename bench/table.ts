/** One printed line: a measurement beside its goal. */
export type Row = {
  readonly what: string
  readonly figure: string
  readonly goal: string
  /** Null without a goal. */
  readonly holds: boolean | null
}

export const number = (value: number, digits = 0): string =>
  value.toLocaleString('en-GB', { maximumFractionDigits: digits, minimumFractionDigits: digits })

export function printRows(rows: readonly Row[]): void {
  process.stdout.write(formatRows(rows))
}

/** Returns the rows as lines of aligned columns, each line after `indent`. */
export function formatRows(rows: readonly Row[], indent = ''): string {
  const wide = (column: 'what' | 'figure' | 'goal') => Math.max(...rows.map((row) => row[column].length))
  const [what, figure, goal] = [wide('what'), wide('figure'), wide('goal')]
  const lines = rows.map((row) => {
    const verdict = row.holds === null ? '' : row.holds ? 'holds' : 'MISSED'
    return `${indent}${row.what.padEnd(what)}  ${row.figure.padEnd(figure)}  ${row.goal.padEnd(goal)}  ${verdict}`
  })
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

export const kilobytes = (bytes: number): string => `${number(bytes / 1024, 1)} KB`
