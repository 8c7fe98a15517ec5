import { askText, sandboxSentence } from '@holdfast/protocol'
import type { OpenQuestion } from '../../attach/screen.ts'
import { cutLine, emptyLine, line, type StyledLine, shownLine, shownText, span, styles } from '../term/lines.ts'
import { wrapLine, wrapText } from '../term/wrap.ts'
import { diffCountLine, diffRows } from './diff.ts'

/** What a key answers. */
export const answerKeys = {
  y: 'approve',
  t: 'approve_turn',
  s: 'approve_session',
  a: 'approve_always',
  n: 'reject',
} as const

type CardOptions = {
  readonly width: number
  readonly rowsMax: number
  /** How many questions wait in all. */
  readonly count: number
  /** What keys do: answer it, answer it in a moment, or write the prompt. */
  readonly keys: 'answer' | 'soon' | 'input'
  readonly isDriving: boolean
}

/** Returns the card of a question that waits for a person: who asks, exactly what would run, and the keys. */
export function approvalRows(asked: OpenQuestion, options: CardOptions): readonly StyledLine[] {
  const { width, rowsMax, count } = options
  const who = asked.child ? `subagent ${asked.child.handle}: ` : ''
  const more = count > 1 ? `  1 of ${count}` : ''
  const why = askText(asked)
  const title =
    asked.preview.type === 'question'
      ? `${who}${shownLine(asked.preview.from)} asks`
      : `${who}allow ${shownLine(asked.tool)}?`
  const notes = [
    ...(asked.changed ? ['The content changed since you approved it.'] : []),
    ...(asked.rewrittenBy === undefined
      ? []
      : [`Its arguments were changed by the hook ${shownLine(asked.rewrittenBy)}.`]),
    ...(why === null ? [] : [shownLine(why)]),
  ]
  const head: StyledLine = [
    span('▌ ', styles.warn),
    span(title, `${styles.bold};${styles.warn}`),
    span(more, styles.dim),
  ]
  const keys = keyRow(asked, options)
  const inner = width - 2
  const room = Math.max(1, rowsMax - 3 - notes.length)
  const body = previewRows(asked, inner, room)
  const edge = span('▌ ', styles.warn)
  const rows = [...body, ...notes.flatMap((note) => wrapLine(line(note, styles.dim), inner))]
  return [emptyLine, head, ...rows.map((row): StyledLine => [edge, ...row]), cutLine([edge, ...keys], width)].slice(
    0,
    rowsMax + 1,
  )
}

function keyRow({ preview, reason }: OpenQuestion, { keys, isDriving }: CardOptions): StyledLine {
  if (!isDriving) return line('Another screen drives this session. Ctrl+X takes over.', styles.dim)
  if (keys === 'input') return line('Tab answers it. Your keys go to the input now.', styles.dim)
  if (keys === 'soon') return line('…', styles.dim)
  if (preview.type === 'question') return keyHints(['y answer', 'n decline', 'esc no choice', 'v view'])
  const once = ['y once']
  const longer = reason === undefined ? ['t turn', 's session', 'a always'] : []
  return keyHints([...once, ...longer, 'n no', 'v view'])
}

const keyHints = (hints: readonly string[]): StyledLine =>
  hints.flatMap((hint, index): StyledLine => {
    const [key = '', ...words] = hint.split(' ')
    return [
      span(index === 0 ? '' : '   '),
      span(key, `${styles.bold};${styles.accent}`),
      span(` ${words.join(' ')}`, styles.dim),
    ]
  })

function previewRows({ preview }: OpenQuestion, width: number, rowsMax: number): readonly StyledLine[] {
  const rows = drawPreview(preview, width, rowsMax + 1)
  if (rows.length <= rowsMax && preview.blob === undefined) return rows
  const kept = rows.slice(0, Math.max(1, rowsMax - 1))
  return [...kept, line('… v shows all of it', styles.warn)]
}

/** Returns the rows of exactly what a call would run. */
export function drawPreview(preview: OpenQuestion['preview'], width: number, rowsMax?: number): readonly StyledLine[] {
  switch (preview.type) {
    case 'command': {
      const command = wrapText(shownText(preview.command), width, styles.bold)
      const place = `in ${shownLine(preview.cwd)}${preview.background ? ', in the background' : ''}`
      const reach = preview.sandbox ? [sandboxSentence(preview.sandbox)] : []
      return [...command, ...[place, ...reach].flatMap((one) => wrapLine(line(shownLine(one), styles.dim), width))]
    }
    case 'diff':
      return [
        [span(shownLine(preview.path), styles.bold), span('  '), ...diffCountLine(preview.diff)],
        ...diffRows(preview.diff, width, rowsMax),
      ]
    case 'arguments':
      return wrapText(shownText(JSON.stringify(preview.args, null, 2)), width)
    case 'question':
      return [
        ...wrapText(shownText(preview.message), width),
        ...(preview.url === undefined
          ? []
          : wrapText(`It wants you to open ${shownLine(preview.url)}`, width, styles.warn)),
        ...preview.fields.map(({ name, title, isRequired }) =>
          line(`· ${shownLine(title ?? name)}${isRequired ? '' : ' (optional)'}`, styles.dim),
        ),
      ]
  }
}
