import type { CliContext } from '../terminal/cli-context.ts'

const progressMs = 200

/** Shows the progress of a long command in one line of the terminal; prints nothing without a terminal. */
export function createProgressLine({ err, now }: Pick<CliContext, 'err' | 'now'>) {
  let shownAt = now()
  let writing = Promise.resolve()
  return {
    show(text: string): void {
      if (!err.isTerminal || now() - shownAt < progressMs) return
      shownAt = now()
      writing = err.write(`\r\u001b[K${text}`)
    },
    async end(): Promise<void> {
      await writing
      if (err.isTerminal) await err.write('\r\u001b[K')
    },
  }
}
