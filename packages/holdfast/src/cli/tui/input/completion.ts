import type { FoundPath, SlashCommand } from '@holdfast/protocol'
import type { Editor } from './editor.ts'

/** One way to complete what is typed. */
export type Completion = {
  /** What is shown, such as `/plan`. */
  readonly label: string
  readonly about: string
  /** The text and caret after it is chosen. */
  readonly text: string
  readonly caret: number
}

/** What the person is typing that can be completed. */
export type Completable =
  | { readonly type: 'command'; readonly text: string }
  | { readonly type: 'path'; readonly text: string; readonly start: number }

/** Finds the slash command or the mention of a file at the caret; null if there is none. */
export function findCompletable({ text, caret }: Editor): Completable | null {
  const before = text.slice(0, caret)
  const command = /^\/([\w.:-]*)$/.exec(before)
  if (command) return { type: 'command', text: command[1] ?? '' }
  const mention = /(?:^|[\s("'])@([^\s@]*)$/.exec(before.slice(-1000))
  const typed = mention?.[1]
  return typed === undefined ? null : { type: 'path', text: typed, start: caret - typed.length - 1 }
}

/** Returns the commands whose names begin with the text, then those that contain it. */
export function completeCommands(
  typed: string,
  { text, caret }: Editor,
  commands: readonly SlashCommand[],
): readonly Completion[] {
  const wanted = typed.toLowerCase()
  const starts = commands.filter(({ name }) => name.toLowerCase().startsWith(wanted))
  const others = commands.filter(
    ({ name }) => !starts.some((one) => one.name === name) && name.toLowerCase().includes(wanted),
  )
  return [...starts, ...others].map(({ name, description, arguments: named }) => {
    const inserted = `/${name}${named === null ? '' : ' '}`
    const after = text.slice(caret).replace(/^ /, '')
    return {
      label: `/${name}${named === null ? '' : ` ${named}`}`,
      about: description,
      text: inserted + after,
      caret: inserted.length,
    }
  })
}

/** Returns the text with each path in place of the mention. A folder stays open for what is in it. */
export const completePaths = (
  start: number,
  { text, caret }: Editor,
  paths: readonly FoundPath[],
): readonly Completion[] =>
  paths.map(({ path, type }) => {
    const isFolder = type === 'folder'
    const named = isFolder && !path.endsWith('/') ? `${path}/` : path
    const shown = /\s/.test(named) ? `@"${named}"` : `@${named}`
    const after = text.slice(caret)
    const inserted = isFolder || /^\s/.test(after) ? shown : `${shown} `
    return {
      label: named,
      about: '',
      text: `${text.slice(0, start)}${inserted}${after}`,
      caret: start + inserted.length,
    }
  })
