import { editByKey, insert, withText } from '../input/editor.ts'
import { layOutEditor, moveByRow } from '../input/editor-layout.ts'
import type { KeyEvent } from '../term/decode-keys.ts'
import type { TerminalSize } from '../term/terminal.ts'
import {
  abort,
  cycleModel,
  cycleThinking,
  editInEditor,
  leave,
  paste,
  pasteImage,
  recall,
  send,
  setInput,
  takeOver,
  toggleMode,
} from './actions.ts'
import { type App, isBusy, isDriving, questionsOf } from './app-state.ts'
import { answerByKey, cancelWritten, submitWritten } from './approvals.ts'
import { chooseCompletion, chooseNext, moveCompletion, updateCompletions } from './completions.ts'
import { actionOf, type KeyAction } from './key-map.ts'
import { openFiles, openHelp, openModels, openRewind, openSessions, openTranscript } from './open-views.ts'

/** What keys need of the terminal. */
export type KeyDeps = {
  readonly size: () => TerminalSize
  readonly now: () => number
  readonly suspend: () => void
  readonly repaint: () => void
}

/** Handles what the person did at the keyboard, on the main screen. */
export function handleKey(app: App, event: KeyEvent, deps: KeyDeps): void {
  if (event.type === 'mouse') return // left from a list that was just closed
  const now = deps.now()
  const armed = app.armed
  app.armed = null
  if (event.type === 'paste') {
    keepInput(app)
    void paste(app, event.text, event.isCut)
  } else if (event.type === 'text') typeText(app, event.text, now)
  else if (!isCompletionKey(app, event.name)) pressKey(app, event.name, armed, deps)
  updateCompletions(app)
  app.redraw()
}

function typeText(app: App, text: string, now: number) {
  const isAtPrompt = app.focus.type === 'prompt' || app.focus.type === 'approval'
  if (text === '?' && app.editor.text === '' && isAtPrompt) return openHelp(app)
  if (app.focus.type === 'approval' && answerByKey(app, text.toLowerCase(), now) === 'its key') return
  keepInput(app)
  app.editor = insert(app.editor, text)
  app.history.reset()
}

/** A person who types while a question is open keeps typing: the next letters do not answer it. */
function keepInput(app: App) {
  if (app.focus.type === 'approval') app.focus = { type: 'prompt', isKept: true }
}

/** Moves in the list of completions, or chooses one. */
function isCompletionKey(app: App, key: string): boolean {
  if (!app.completions || app.completions.found.length === 0) return false
  if (key === 'up') moveCompletion(app, -1)
  else if (key === 'down') moveCompletion(app, 1)
  else if (key === 'tab') chooseNext(app)
  else if (key === 'esc') app.completions = { found: [], chosen: 0, of: app.editor.text }
  else if (key === 'enter') return chooseCompletion(app) === 'changed' && !isWholeCommand(app.editor.text)
  else return false
  return true
}

/** A command without arguments is sent at once. */
const isWholeCommand = (text: string): boolean => /^\/\S+$/.test(text)

function pressKey(app: App, key: string, armed: App['armed'], deps: KeyDeps) {
  const action = actionOf(key)
  if (app.focus.type === 'approval' && key === 'esc') return escapeApproval(app, deps.now())
  if (app.focus.type === 'approval' && key === 'tab') return keepInput(app)
  if (app.focus.type === 'prompt' && app.focus.isKept && key === 'esc' && app.editor.text === '')
    return act(app, 'answer', armed, deps)
  if ((app.focus.type === 'reason' || app.focus.type === 'field') && key === 'enter') return submitWritten(app)
  if ((app.focus.type === 'reason' || app.focus.type === 'field') && key === 'esc') return cancelWritten(app)
  if (action) return act(app, action, armed, deps)
  const edited = editByKey(app.editor, key)
  if (edited) {
    app.editor = edited
    return
  }
  if (key === 'up' || key === 'down') moveOrRecall(app, key === 'up' ? -1 : 1, deps.size())
}

function escapeApproval(app: App, now: number) {
  if (answerByKey(app, 'esc', now) === 'no key of it') abort(app)
}

function act(app: App, action: KeyAction, armed: App['armed'], deps: KeyDeps) {
  switch (action) {
    case 'send':
      return sendOrBreak(app)
    case 'followUp':
      return send(app, 'follow_up')
    case 'newline':
      app.editor = insert(app.editor, '\n')
      return
    case 'recall':
      return void recall(app)
    case 'abort':
      return stopOrGoBack(app, armed)
    case 'mode':
      return toggleMode(app)
    case 'cycleModel':
      return void cycleModel(app).then((isDone) => (isDone ? undefined : openModels(app)))
    case 'thinking':
      return cycleThinking(app)
    case 'transcript':
      return openTranscript(app)
    case 'sessions':
      return openSessions(app)
    case 'files':
      return void openFiles(app)
    case 'editor':
      return void editInEditor(app)
    case 'pasteImage':
      return void pasteImage(app)
    case 'takeOver':
      return takeOver(app)
    case 'answer':
      if (questionsOf(app).length > 0 && isDriving(app)) app.focus = { type: 'approval' }
      return
    case 'clear':
      return clear(app, armed)
    case 'leave':
      if (app.editor.text === '' && armed === 'quit') app.quit()
      else if (app.editor.text === '') leave(app)
      return
    case 'redraw':
      return deps.repaint()
    case 'suspend':
      return deps.suspend()
    case 'help':
      return
  }
}

/** Sends the input. A backslash at its end makes a new line instead. */
function sendOrBreak(app: App) {
  const { text, caret } = app.editor
  if (caret === text.length && text.endsWith('\\')) {
    app.editor = withText(app.editor, `${text.slice(0, -1)}\n`)
    return
  }
  send(app, 'steering')
}

/** Esc stops the turn. When idle, a second Esc chooses a turn to go back to. */
function stopOrGoBack(app: App, armed: App['armed']) {
  if (isBusy(app)) return abort(app)
  if (app.editor.text !== '') return
  if (armed === 'rewind') return void openRewind(app)
  app.arm('rewind')
}

function clear(app: App, armed: App['armed']) {
  if (app.focus.type === 'reason' || app.focus.type === 'field') return cancelWritten(app)
  if (app.editor.text !== '') return setInput(app, '')
  if (armed === 'quit') return app.quit()
  if (isBusy(app) && isDriving(app)) abort(app)
  app.arm('quit')
}

function moveOrRecall(app: App, by: 1 | -1, { columns, rows }: TerminalSize) {
  const width = Math.max(1, columns - 3)
  const layout = layOutEditor(app.editor, width, Math.max(2, Math.floor(rows / 3)))
  const moved = moveByRow(app.editor, layout, by, width)
  if (moved) {
    app.editor = moved
    return
  }
  if (app.focus.type !== 'prompt') return
  const recalled = app.history.move(by, app.editor.text)
  if (recalled !== null) app.editor = withText(app.editor, recalled)
}
