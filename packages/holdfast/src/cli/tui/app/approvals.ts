import type { Answers, Decision } from '@holdfast/protocol'
import type { OpenQuestion } from '../../attach/screen.ts'
import { readField } from '../../sessions/ask-questions.ts'
import { answerKeys, drawPreview } from '../render/approval.ts'
import { shownText } from '../term/lines.ts'
import { wrapText } from '../term/wrap.ts'
import { createTextView } from '../views/text-view.ts'
import { setInput, submit } from './actions.ts'
import { type App, guardedMs, guardMs, isDriving, keyOf, questionsOf } from './app-state.ts'

/** Gives the keys to the question that is drawn now, unless the person is typing. Takes them back when it is gone. */
export function focusQuestion(app: App, now: number): void {
  const [asked] = questionsOf(app)
  const key = asked ? keyOf(asked) : null
  if (key !== (app.shownQuestion?.key ?? null)) {
    app.shownQuestion = key === null ? null : { key, answersFrom: now + guardMs }
    if (key !== null) setTimeout(app.redraw, guardMs + 1)
  }
  const { focus } = app
  const isGone = 'asked' in focus && !questionsOf(app).some((one) => keyOf(one) === keyOf(focus.asked))
  if (isGone) setInput(app, '')
  if (isGone || (focus.type === 'approval' && (!asked || !isDriving(app)))) app.focus = { type: 'prompt' }
  if (app.focus.type !== 'prompt') return
  if (!asked || !isDriving(app)) app.focus = { type: 'prompt' }
  else if (app.editor.text !== '') app.focus = { type: 'prompt', isKept: true }
  else if (!app.focus.isKept) app.focus = { type: 'approval' }
}

/** Answers the question that is shown. Returns whether the key means something to it, also if it came too soon to count. */
export function answerByKey(app: App, key: string, now: number): 'its key' | 'no key of it' {
  const [asked] = questionsOf(app)
  if (!asked) return 'no key of it'
  const { preview, reason } = asked
  const longer = preview.type === 'question' || reason !== undefined ? [] : ['t', 's', 'a']
  const keys = ['y', 'n', 'v', ...longer, ...(preview.type === 'question' ? ['esc'] : [])]
  if (!keys.includes(key)) return 'no key of it'
  if (key === 'v') void viewPreview(app, asked)
  else if (guardedMs(app, now) === 0) answer(app, asked, key)
  return 'its key'
}

function answer(app: App, asked: OpenQuestion, key: string) {
  if (asked.preview.type === 'question') return answerQuestion(app, asked, key)
  const decision = answerKeys[key as keyof typeof answerKeys] // one of them, as was checked before
  if (decision === 'reject') app.focus = { type: 'reason', asked }
  else respond(app, asked, decision)
  app.redraw()
}

function answerQuestion(app: App, asked: OpenQuestion, key: string) {
  if (key === 'n') return respond(app, asked, 'reject')
  if (key === 'esc') return respond(app, asked, 'cancel')
  if (asked.preview.type !== 'question') return
  if (asked.preview.fields.length === 0) return respond(app, asked, 'approve')
  app.focus = { type: 'field', asked, values: [] }
  app.redraw()
}

/** Ends the reason or the field that is being written. */
export function submitWritten(app: App): void {
  const { focus } = app
  const text = app.editor.text.trim()
  if (focus.type === 'reason') {
    setInput(app, '')
    respond(app, focus.asked, 'reject', text === '' ? {} : { message: text })
  } else if (focus.type === 'field') addField(app, focus, text)
}

function addField(app: App, { asked, values }: Extract<App['focus'], { readonly type: 'field' }>, text: string): void {
  if (asked.preview.type !== 'question') return
  const { fields } = asked.preview
  const field = fields[values.length]
  const read = field ? readField(field, text) : null
  if (!field || !read) return
  if (!read.ok) {
    app.host.notice(read.fault.message, true)
    return
  }
  setInput(app, '')
  const all = [...values, read.value]
  if (all.length < fields.length) app.focus = { type: 'field', asked, values: all }
  else
    respond(app, asked, 'approve', {
      answers: toAnswers(
        fields.map(({ name }) => name),
        all,
      ),
    })
  app.redraw()
}

const toAnswers = (names: readonly string[], values: readonly unknown[]): Answers =>
  Object.fromEntries(
    names.flatMap((name, index) => {
      const value = values[index] as Answers[string] | undefined // as `readField` returned it
      return value === undefined ? [] : [[name, value] as const]
    }),
  )

/** Goes back from a reason or a form to the question. */
export function cancelWritten(app: App): void {
  setInput(app, '')
  app.focus = { type: 'approval' }
}

type Reply = { readonly message?: string; readonly answers?: Answers }

function respond(app: App, { id, child }: OpenQuestion, decision: Decision, reply: Reply = {}): void {
  app.focus = { type: 'prompt' }
  void submit(app, { type: 'respondToApproval', decision, approval: id, ...reply, ...(child && { child: child.id }) })
}

/** Shows the whole of what would run. Of a long one the record has only head and tail. */
async function viewPreview(app: App, { preview, tool }: OpenQuestion): Promise<void> {
  const whole = preview.blob && app.handle ? await readBlob(app, preview.blob.hash) : null
  const rows = (width: number) => {
    if (whole === null) return drawPreview(preview, width)
    return preview.type === 'diff' ? drawPreview({ ...preview, diff: whole }, width) : wrapText(shownText(whole), width)
  }
  app.host.open(createTextView({ title: () => `allow ${tool}?`, rows: (width) => rows(width - 1) }, app.host))
}

async function readBlob(app: App, hash: Parameters<NonNullable<App['handle']>['blob']>[0]): Promise<string | null> {
  const blob = await app.handle?.blob(hash)
  if (!blob?.ok) return null
  const chunks: Uint8Array[] = []
  for await (const chunk of blob.value) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
