import { type Completion, completeCommands, completePaths, findCompletable } from '../input/completion.ts'
import { withText } from '../input/editor.ts'
import type { App } from './app-state.ts'

/** What was completed last, so that the same text is not looked up again, and Esc closes the list. */
const lookedUp = new WeakMap<App, string>()
/** Who pressed Tab before the names were found. */
const awaited = new WeakSet<App>()

/** Looks for completions of what is being typed. Names of files come a moment later. */
export function updateCompletions(app: App): void {
  const found = app.focus.type === 'prompt' ? findCompletable(app.editor) : null
  const key = found === null ? '' : `${found.type} ${app.editor.text} ${app.editor.caret}`
  if (lookedUp.get(app) === key) return
  lookedUp.set(app, key)
  awaited.delete(app)
  if (found === null) app.completions = null
  else if (found.type === 'command') show(app, completeCommands(found.text, app.editor, app.commands))
  else void lookUpPaths(app, found.text, found.start, key)
}

async function lookUpPaths(app: App, text: string, start: number, key: string): Promise<void> {
  if (!app.reached || !app.handle) return
  const { editor } = app
  const answer = await app.reached.completePath(app.handle, text)
  if (lookedUp.get(app) !== key) return // the person typed on
  show(app, answer.ok ? completePaths(start, editor, answer.value.paths) : [])
  if (awaited.delete(app)) chooseCompletion(app)
  app.redraw()
}

function show(app: App, found: readonly Completion[]): void {
  app.completions = found.length === 0 ? null : { found, chosen: 0, of: app.editor.text }
}

export function moveCompletion(app: App, by: 1 | -1): void {
  if (!app.completions) return
  const { found, chosen, of } = app.completions
  app.completions = { found, chosen: (chosen + by + found.length) % found.length, of }
}

/** Chooses the completion once it is found, if the list is still that of an earlier input. */
export function chooseNext(app: App): void {
  if (app.completions && app.completions.of !== app.editor.text) awaited.add(app)
  else chooseCompletion(app)
}

/** Puts the chosen completion into the input. `same` if that changes nothing: Enter then sends. */
export function chooseCompletion(app: App): 'changed' | 'same' {
  if (app.completions?.of !== app.editor.text) return 'same'
  const one = app.completions?.found[app.completions.chosen]
  if (!one) return 'same'
  const isSame = one.text.trimEnd() === app.editor.text.trimEnd()
  app.editor = withText(app.editor, one.text, one.caret)
  app.completions = null
  lookedUp.set(app, one.text.endsWith('/') ? '' : `command ${one.text} ${one.caret}`)
  return isSame ? 'same' : 'changed'
}
