import type { CliContext } from '../context/cli-context.ts'

const progressMs = 200

/** One line on the terminal that says how far a long command is; elsewhere nothing. */
export function createProgressLine({ err, now }: Pick<CliContext, 'err' | 'now'>) {
  let told = now()
  let writing = Promise.resolve()
  return {
    tell(text: string): void {
      if (!err.isTerminal || now() - told < progressMs) return
      told = now()
      writing = err.write(`\r\u001b[K${text}`)
    },
    async end(): Promise<void> {
      await writing
      if (err.isTerminal) await err.write('\r\u001b[K')
    },
  }
}
