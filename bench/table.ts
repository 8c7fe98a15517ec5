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
  const wide = (column: 'what' | 'figure' | 'goal') => Math.max(...rows.map((row) => row[column].length))
  const [what, figure, goal] = [wide('what'), wide('figure'), wide('goal')]
  for (const row of rows) {
    const verdict = row.holds === null ? '' : row.holds ? 'holds' : 'MISSED'
    const line = `${row.what.padEnd(what)}  ${row.figure.padEnd(figure)}  ${row.goal.padEnd(goal)}  ${verdict}`
    process.stdout.write(`${line.trimEnd()}\n`)
  }
}
