import {
  type Answer,
  type CommandInput,
  type ContentPart,
  commandResult,
  limits,
  type Result,
} from '@holdfast/protocol'
import { changedText } from '../../sessions/changed-text.ts'
import { emptyEditor, insert, withText } from '../input/editor.ts'
import { editOutside } from '../input/external-editor.ts'
import { findDroppedFile, storeClipboardImage, storeFile } from '../input/pasted-files.ts'
import { type App, hasDriver, isBusy } from './app-state.ts'

/** Submits a command as this terminal. A refusal is shown. */
export async function submit(app: App, command: CommandInput): Promise<Result<Answer> | null> {
  if (!app.live) return null
  // Nobody else would lose the session: the driver has left.
  if (!hasDriver(app) && command.type !== 'claimDriver') await app.live.submit({ type: 'claimDriver' })
  const answer = await app.live.submit(command)
  if (!answer.ok) app.host.notice(answer.fault.message, true)
  app.redraw()
  return answer
}

/** Sends what is in the input: a slash command, a prompt, or a follow-up of the running turn. */
export function send(app: App, queue: 'steering' | 'follow_up'): void {
  const { text } = app.editor
  if (text.trim() === '') return
  app.history.add(app.pastes.expand(text))
  const content = app.pastes.toContent(text)
  setInput(app, '')
  if (app.runCommand(text)) return
  const sent = () => void sendContent(app, text, content, queue)
  if (app.live?.view) sent()
  else app.early.push(sent)
}

async function sendContent(
  app: App,
  text: string,
  content: readonly ContentPart[],
  queue: 'steering' | 'follow_up',
): Promise<void> {
  const type = queue === 'steering' ? 'sendPrompt' : 'queueFollowUp'
  const answer = await submit(app, { type, content: [...content] })
  if (answer?.ok) {
    const changed = changedText(answer.value)
    if (changed !== null) app.host.notice(changed)
    return app.pastes.forget(text)
  }
  // Refused: the person gets the text back, before what was typed since.
  const { text: since } = app.editor
  setInput(app, since === '' ? text : `${text}\n\n${since}`)
}

/** Replaces the text of the input. */
export function setInput(app: App, text: string): void {
  app.editor = text === '' ? { ...emptyEditor, killed: app.editor.killed } : withText(app.editor, text)
  app.completions = null
  app.redraw()
}

/** Stops the running turn. */
export const abort = (app: App): void => void submit(app, { type: 'abort' })

/** Takes the queued prompts back into the input. */
export async function recall(app: App): Promise<void> {
  if ((app.live?.view?.queue ?? []).length === 0) return
  const answer = await submit(app, { type: 'recallQueues' })
  if (!answer?.ok) return
  const { entries } = commandResult('recallQueues', answer.value)
  const back = entries.flatMap(({ content, typed }) => {
    const texts = typed === undefined ? content.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [typed]
    const files = content.flatMap((part) => (part.type === 'file' ? [app.pastes.addFile(part)] : []))
    return [...texts, ...files]
  })
  setInput(app, [...back, app.editor.text].filter((text) => text !== '').join('\n\n'))
}

export function toggleMode(app: App): void {
  const mode = app.live?.view?.mode
  if (mode) void submit(app, { type: mode === 'plan' ? 'enterExec' : 'enterPlan' })
}

/** Takes control from another screen of the same person. */
export const takeOver = (app: App): void => void submit(app, { type: 'claimDriver', takeOver: true })

export const cycleThinking = (app: App): void => void submit(app, { type: 'cycleThinkingLevel' })

/** Switches to the next model of the rotation. Returns false if there is no rotation. */
export async function cycleModel(app: App): Promise<boolean> {
  if (!app.live) return true
  const answer = await app.live.submit({ type: 'cycleModel' })
  if (!answer.ok && answer.fault.code === 'no_rotation') return false
  if (!answer.ok) app.host.notice(answer.fault.message, true)
  return true
}

/** Inserts a paste: a long text as a placeholder, the path of an image as that image. */
export async function paste(app: App, text: string, isCut: boolean): Promise<void> {
  const dropped = findDroppedFile(text)
  if (dropped !== null && app.reached) {
    const stored = await storeFile(app.reached.sessions, dropped.replace(/^~/, app.context.home.userDir))
    if (stored.ok) return addText(app, `${app.pastes.addFile(stored.value)} `)
  }
  const kept = cutToBytes(text, limits.promptBytesMax)
  if (isCut || kept !== text) app.host.notice('The paste was cut: it is longer than a prompt can be.', true)
  addText(app, app.pastes.add(kept))
}

/** Returns the beginning of a text that has at most so many bytes, without half a character at its end. */
function cutToBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text)
  return bytes.length <= bytesMax ? text : new TextDecoder().decode(bytes.subarray(0, bytesMax), { stream: true })
}

export async function pasteImage(app: App): Promise<void> {
  if (!app.reached) return
  const stored = await storeClipboardImage(app.reached.sessions)
  if (stored.ok) addText(app, `${app.pastes.addFile(stored.value)} `)
  else app.host.notice(stored.fault.message, true)
}

function addText(app: App, text: string): void {
  app.editor = insert(app.editor, text)
  app.redraw()
}

/** Opens the input in the person's editor. */
export async function editInEditor(app: App): Promise<void> {
  const text = app.pastes.expand(app.editor.text)
  const edited = await app.withoutTerminal(() => editOutside(text, app.context.environment))
  if (edited.ok) setInput(app, edited.value)
  else app.host.notice(edited.fault.message, true)
}

/** Leaves, or says first what leaving would interrupt. */
export function leave(app: App): void {
  const isHere = app.handle !== null && app.reached?.isHere(app.handle.id) === true
  if (isBusy(app) && isHere && app.armed !== 'quit') {
    app.arm('quit')
    app.host.notice('A turn runs in this process and would be interrupted. With holdfast serve it would go on.')
    return
  }
  app.quit()
}
