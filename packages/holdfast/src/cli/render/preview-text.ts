import { type Preview, type PreviewSandbox, sandboxSentence } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { Output, Paint } from '../terminal/output.ts'
import { diffText } from './diff-text.ts'
import { shownWidth } from './wrap-words.ts'

/**
 * Formats exactly what a call would run; a long preview ends with the name of its whole text. `wrap` is for sentences about
 * it: what would run is never wrapped, except that lines of a diff are broken at `columns`, with a mark.
 */
export function previewText(
  preview: Preview,
  paint: Paint,
  { wrap = (text) => text, columns = null }: Partial<Pick<Output, 'wrap' | 'columns'>> = {},
): string {
  const { blob } = preview
  const shown = shownText(preview, paint, { wrap, columns })
  if (!blob) return shown
  return `${shown}\n[shortened; the whole has ${blob.bytes} bytes and is kept as ${blob.hash}]`
}

/**
 * Asks whether something may run. The question is wrapped at words, what would run is not: it follows on the same line if
 * its own first line fits there.
 */
export function askedText(
  question: string,
  preview: Preview,
  { paint, wrap, columns }: Pick<Output, 'paint' | 'wrap' | 'columns'>,
): string {
  const [asked, what] = [wrap(question), previewText(preview, paint, { wrap, columns })]
  const [head = ''] = what.split('\n', 1)
  const last = asked.slice(asked.lastIndexOf('\n') + 1)
  const fits = columns === null || shownWidth(last) + 1 + shownWidth(head) <= columns
  return `${asked}${fits ? ' ' : '\n'}${what}`
}

/** Says on a line of its own what a command can reach; nothing for logs of earlier versions. */
const sandboxText = (sandbox: PreviewSandbox | undefined): string =>
  sandbox ? `\n  ${escapeLine(sandboxSentence(sandbox))}` : ''

function shownText(preview: Preview, paint: Paint, { wrap, columns }: Pick<Output, 'wrap' | 'columns'>): string {
  if (preview.type === 'command') {
    const { command, cwd, background, sandbox } = preview
    const place = `in ${escapeLine(cwd)}${background ? ', in the background' : ''}`
    return `${escapeLine(command)}\n${wrap(`  ${place}${sandboxText(sandbox)}`)}`
  }
  if (preview.type === 'diff') return `${escapeLine(preview.path)}\n${diffText(preview.diff, paint, { columns })}`
  if (preview.type === 'arguments') return escapeLine(JSON.stringify(preview.args))
  const { from, message, fields, url } = preview
  const lines = fields.map(
    ({ name, title, isRequired }) => `  ${escapeLine(title ?? name)}${isRequired ? '' : ' (optional)'}`,
  )
  return [
    `${escapeLine(from)}: ${escapeLine(message)}`,
    ...(url === undefined ? lines : [`  ${escapeLine(url)}`]),
  ].join('\n')
}
