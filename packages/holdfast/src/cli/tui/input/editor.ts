import { graphemesOf } from '../term/cell-width.ts'

/** The text in the input box and its caret, an index into the text. */
export type Editor = {
  readonly text: string
  readonly caret: number
  /** Earlier states, the newest last, for undo. */
  readonly past: readonly { readonly text: string; readonly caret: number }[]
  /** What was deleted last by a word or a line, for yank. */
  readonly killed: string
}

export const emptyEditor: Editor = { text: '', caret: 0, past: [], killed: '' }

const undoMax = 100

/** Returns the editor with another text; undo brings the old one back. */
export function withText(editor: Editor, text: string, caret = text.length): Editor {
  if (text === editor.text) return { ...editor, caret }
  const past = [...editor.past, { text: editor.text, caret: editor.caret }].slice(-undoMax)
  return { ...editor, text, caret, past }
}

export const insert = (editor: Editor, added: string): Editor => {
  const { text, caret } = editor
  return withText(editor, text.slice(0, caret) + added + text.slice(caret), caret + added.length)
}

export function undo(editor: Editor): Editor {
  const last = editor.past.at(-1)
  return last ? { ...editor, ...last, past: editor.past.slice(0, -1) } : editor
}

export const yank = (editor: Editor): Editor => (editor.killed === '' ? editor : insert(editor, editor.killed))

const removed = (editor: Editor, from: number, to: number, isKill: boolean): Editor => {
  if (from >= to) return editor
  const { text } = editor
  const next = withText(editor, text.slice(0, from) + text.slice(to), from)
  return isKill ? { ...next, killed: text.slice(from, to) } : next
}

/** What a person pasted stands in the text as a placeholder in brackets, and is deleted as a whole. */
const placeholderBefore = /\[(?:pasted|image|file) #\d+[^\]\n]*\]$/

export const backspace = (editor: Editor): Editor => {
  const [whole] = placeholderBefore.exec(editor.text.slice(0, editor.caret)) ?? []
  return removed(editor, whole ? editor.caret - whole.length : before(editor), editor.caret, false)
}
export const deleteNext = (editor: Editor): Editor => removed(editor, editor.caret, after(editor), false)
export const killWordBefore = (editor: Editor): Editor => removed(editor, wordBefore(editor), editor.caret, true)
export const killWordAfter = (editor: Editor): Editor => removed(editor, editor.caret, wordAfter(editor), true)
export const killToStart = (editor: Editor): Editor => removed(editor, lineStart(editor), editor.caret, true)
export const killToEnd = (editor: Editor): Editor => {
  const end = lineEnd(editor)
  return removed(editor, editor.caret, end === editor.caret ? after(editor) : end, true)
}

const moved = (editor: Editor, caret: number): Editor => ({ ...editor, caret })
export const moveLeft = (editor: Editor): Editor => moved(editor, before(editor))
export const moveRight = (editor: Editor): Editor => moved(editor, after(editor))
export const moveWordLeft = (editor: Editor): Editor => moved(editor, wordBefore(editor))
export const moveWordRight = (editor: Editor): Editor => moved(editor, wordAfter(editor))
export const moveToStart = (editor: Editor): Editor => moved(editor, lineStart(editor))
export const moveToEnd = (editor: Editor): Editor => moved(editor, lineEnd(editor))

const before = ({ text, caret }: Editor): number => {
  const near = text.slice(Math.max(0, caret - 40), caret)
  return caret - (graphemesOf(near).at(-1)?.length ?? 0)
}
const after = ({ text, caret }: Editor): number => caret + (graphemesOf(text.slice(caret, caret + 40))[0]?.length ?? 0)
const wordBefore = ({ text, caret }: Editor): number =>
  text.slice(0, caret).replace(/[\p{L}\p{N}_]+[^\p{L}\p{N}_\n]*$|[^\p{L}\p{N}_]+$/u, '').length
const wordAfter = ({ text, caret }: Editor): number =>
  caret + (/^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u.exec(text.slice(caret))?.[0].length ?? 0)
const lineStart = ({ text, caret }: Editor): number => text.lastIndexOf('\n', caret - 1) + 1
const lineEnd = ({ text, caret }: Editor): number => {
  const end = text.indexOf('\n', caret)
  return end === -1 ? text.length : end
}

type Edit = (editor: Editor) => Editor

const edits: Readonly<Record<string, Edit>> = {
  left: moveLeft,
  right: moveRight,
  'ctrl+b': moveLeft,
  home: moveToStart,
  end: moveToEnd,
  'ctrl+a': moveToStart,
  'ctrl+e': moveToEnd,
  'ctrl+left': moveWordLeft,
  'ctrl+right': moveWordRight,
  'alt+b': moveWordLeft,
  'alt+f': moveWordRight,
  'alt+left': moveWordLeft,
  'alt+right': moveWordRight,
  backspace,
  'shift+backspace': backspace,
  delete: deleteNext,
  'ctrl+w': killWordBefore,
  'alt+backspace': killWordBefore,
  'ctrl+backspace': killWordBefore,
  'alt+d': killWordAfter,
  'ctrl+u': killToStart,
  'ctrl+k': killToEnd,
  'ctrl+y': yank,
  'ctrl+_': undo,
}

/** Returns the editor after a key; null if the key edits nothing. */
export const editByKey = (editor: Editor, key: string): Editor | null => edits[key]?.(editor) ?? null
