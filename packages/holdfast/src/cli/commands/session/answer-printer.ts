import type { MarkdownPrinter } from '../../render/run-output.ts'
import type { CliContext } from '../../terminal/cli-context.ts'

/** Returns what draws answers at a terminal; undefined where a program or a file reads them. */
export async function openAnswerPrinter({
  out,
  environment,
}: Pick<CliContext, 'out' | 'environment'>): Promise<MarkdownPrinter | undefined> {
  if (out.columns === null || environment['TERM'] === 'dumb') return undefined
  const { createMarkdownPrinter } = await import('../../tui/render/markdown-printer.ts')
  return createMarkdownPrinter(out.columns, out.paint.red('') !== '')
}
