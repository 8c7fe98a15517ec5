import { askText, sandboxSentence } from '@holdfast/protocol'
import type { OpenQuestion } from '../../attach/screen.ts'
import { trustedText } from '../../sessions/ask-approval.ts'
import {
  cutLine,
  emptyLine,
  line,
  lineWidth,
  type StyledLine,
  shownLine,
  shownText,
  span,
  styles,
} from '../term/lines.ts'
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
  const inner = width - 2
  const keys = keyRows(asked, options, inner)
  const notes = [
    ...(asked.changed ? ['The content changed since you approved it.'] : []),
    ...(asked.rewrittenBy === undefined
      ? []
      : [`Its arguments were changed by the hook ${shownLine(asked.rewrittenBy)}.`]),
    ...(why === null ? [] : [shownLine(why)]),
    ...(asked.preview.type === 'question' || asked.reason !== undefined ? [] : [trustedText(asked.tool)]),
  ].flatMap((note) => wrapLine(line(note, styles.dim), inner))
  const head: StyledLine = [
    span('▌ ', styles.warn),
    span(title, `${styles.bold};${styles.warn}`),
    span(more, styles.dim),
  ]
  const room = Math.max(1, rowsMax - 1 - keys.length - notes.length)
  const edge = span('▌ ', styles.warn)
  // The keys are always in sight, whatever the notes take.
  const rows = [...previewRows(asked, inner, room), ...notes].slice(0, Math.max(1, rowsMax - 1 - keys.length))
  return [emptyLine, head, ...[...rows, ...keys].map((row): StyledLine => cutLine([edge, ...row], width))]
}

function keyRows({ preview, reason }: OpenQuestion, options: CardOptions, width: number): readonly StyledLine[] {
  const { keys, isDriving } = options
  if (!isDriving) return wrapLine(line('Another screen drives this session. Ctrl+X takes over.', styles.dim), width)
  if (keys === 'input')
    return wrapLine(
      line('Tab answers it, or Esc when the input is empty. Your keys go to the input now.', styles.dim),
      width,
    )
  if (keys === 'soon') return [line('…', styles.dim)]
  const longer = reason === undefined ? ['t turn', 's session', 'a always'] : []
  const hints =
    preview.type === 'question'
      ? ['y answer', 'n decline', 'esc no choice', 'v view', 'tab write']
      : ['y once', ...longer, 'n no', 'v view', 'tab write']
  const rows: string[][] = []
  for (const hint of hints) {
    const row = rows.at(-1)
    if (row && lineWidth(keyHints([...row, hint])) <= width) row.push(hint)
    else rows.push([hint])
  }
  return rows.map(keyHints)
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

/** Returns what fits of what would run: its first and its last rows, so that nothing can hide behind a long beginning. */
function previewRows({ preview }: OpenQuestion, width: number, room: number): readonly StyledLine[] {
  const rows = previewBody(preview, width)
  const facts = previewFacts(preview, width)
  if (rows.length + facts.length <= room && preview.blob === undefined) return [...rows, ...facts]
  const kept = facts.length <= room - 2 ? facts : []
  const left = Math.min(rows.length, Math.max(0, room - kept.length - 1))
  const hidden = rows.length - left
  const count = hidden === 0 ? '' : hidden === 1 ? ' 1 row is hidden:' : ` ${hidden} rows are hidden:`
  const mark = line(`…${count} v shows all of it`, styles.warn)
  const last = rows.slice(rows.length - Math.floor(left / 2))
  return [...rows.slice(0, Math.ceil(left / 2)), mark, ...(left < 2 ? [] : last), ...kept]
}

/** Returns the rows of exactly what a call would run. */
export const drawPreview = (preview: OpenQuestion['preview'], width: number): readonly StyledLine[] => [
  ...previewBody(preview, width),
  ...previewFacts(preview, width),
]

/** Returns where a command would run, and what it could reach. */
function previewFacts(preview: OpenQuestion['preview'], width: number): readonly StyledLine[] {
  if (preview.type !== 'command') return []
  const place = `in ${shownLine(preview.cwd)}${preview.background ? ', in the background' : ''}`
  const reach = preview.sandbox ? [sandboxSentence(preview.sandbox)] : []
  return [place, ...reach].flatMap((one) => wrapLine(line(shownLine(one), styles.dim), width))
}

function previewBody(preview: OpenQuestion['preview'], width: number): readonly StyledLine[] {
  switch (preview.type) {
    case 'command':
      return wrapText(shownText(preview.command), width, styles.bold)
    case 'diff':
      return [
        [
          span(shownLine(preview.path), styles.bold),
          // Of a long diff only its beginning and its end are here.
          span(preview.blob === undefined ? '  ' : '  more than ', styles.dim),
          ...diffCountLine(preview.diff),
        ],
        ...diffRows(preview.diff, width),
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
