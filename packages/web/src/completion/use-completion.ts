import { escapeLine, type FoundPath, type FoundPaths, type Result, type SlashCommand } from '@holdfast/protocol'
import { type KeyboardEvent, type RefObject, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import type { DraftText } from '../text/draft-text.ts'
import { completeMention, findMention } from './completion.ts'
import { completedText, matchCommands } from './match-commands.ts'

/** One line of the list. */
export type Completion = {
  readonly key: string
  readonly name: string
  readonly arguments: string | null
  readonly about: string
  /** Enter sends the text, because it is this one already. */
  readonly isComplete: boolean
  readonly next: { readonly text: string; readonly caret: number }
}

/** Where completions come from: a session, or a folder in which one could be started. The same object while they are the same. */
export type CompletionSource = {
  readonly commands: () => Promise<Result<readonly SlashCommand[]>>
  /** Returns the paths for what is typed after an `@`. */
  readonly paths: (typed: string) => Promise<Result<FoundPaths>>
}

/** Completes slash commands and `@` mentions of files in the input box. */
export function useCompletion(
  draft: Pick<DraftText, 'text' | 'write'>,
  box: RefObject<HTMLTextAreaElement | null>,
  source: CompletionSource,
) {
  const listId = useId()
  const [caret, setCaret] = useState(0)
  const [chosen, setChosen] = useState(0)
  const [closedAt, setClosedAt] = useState<string | null>(null)
  const moveTo = useRef<number | null>(null)
  const { text } = draft
  const commands = useSlashCommands(source, text.startsWith('/'))
  const mention = findMention(text, Math.min(caret, text.length))
  const paths = usePaths(source, mention?.text ?? null)

  // biome-ignore lint/correctness/useExhaustiveDependencies: the caret is set once the completed text is drawn
  useLayoutEffect(() => {
    if (moveTo.current === null) return
    box.current?.setSelectionRange(moveTo.current, moveTo.current)
    setCaret(moveTo.current)
    moveTo.current = null
  }, [text])

  const all: readonly Completion[] =
    mention === null
      ? matchCommands(commands, text).map((command) => ofCommand(command, text))
      : paths.map((path) => ({ ...ofPath(path), next: completeMention(text, mention, path) }))
  const found = closedAt === text ? [] : all
  const at = Math.min(chosen, found.length - 1)
  const complete = ({ next }: Completion) => {
    moveTo.current = next.caret
    draft.write(next.text)
    setClosedAt(next.text.endsWith('/') ? null : next.text)
    setChosen(0)
  }

  /** Handles a key of the input box. Returns whether it was one of the list. */
  const onKey = (event: KeyboardEvent): boolean => {
    const one = found[at]
    if (one === undefined || event.nativeEvent.isComposing || event.ctrlKey || event.altKey || event.metaKey)
      return false
    const isSent = event.key === 'Enter' && found.some(({ isComplete }) => isComplete)
    if (event.key === 'ArrowDown') setChosen((at + 1) % found.length)
    else if (event.key === 'ArrowUp') setChosen((at + found.length - 1) % found.length)
    else if (event.key === 'Escape') setClosedAt(text)
    else if (event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey && !isSent)) complete(one)
    else return false
    event.preventDefault()
    return true
  }
  return { found, at, listId, label: mention === null ? 'Slash commands' : 'Files', complete, onKey, setCaret }
}

const ofCommand = (command: SlashCommand, text: string): Completion => ({
  key: command.name,
  name: `/${escapeLine(command.name)}`,
  arguments: command.arguments === null ? null : escapeLine(command.arguments),
  about: escapeLine(command.description),
  isComplete: text === `/${command.name}`,
  next: { text: completedText(command), caret: completedText(command).length },
})

const ofPath = ({ path, type }: FoundPath): Omit<Completion, 'next'> => ({
  key: path,
  name: escapeLine(path),
  arguments: null,
  isComplete: false,
  about: type === 'folder' ? 'folder' : '',
})

const noCommands: readonly SlashCommand[] = []

/** Loads the commands anew for each one that is typed: files may have changed. */
function useSlashCommands(source: CompletionSource, isTyped: boolean): readonly SlashCommand[] {
  const [commands, setCommands] = useState(noCommands)
  useEffect(() => {
    if (!isTyped) return
    let isLeft = false
    void source.commands().then((answer) => {
      if (!isLeft && answer.ok) setCommands(answer.value)
    })
    return () => {
      isLeft = true
    }
  }, [source, isTyped])
  return commands
}

const noPaths: readonly FoundPath[] = []
const shownMax = 12

/** Asks for the paths of a mention. The newest answer wins. */
function usePaths(source: CompletionSource, typed: string | null): readonly FoundPath[] {
  const [paths, setPaths] = useState(noPaths)
  useEffect(() => {
    if (typed === null) return setPaths(noPaths)
    let isLeft = false
    void source.paths(typed).then((answer) => {
      if (!isLeft) setPaths(answer.ok ? answer.value.paths.slice(0, shownMax) : noPaths)
    })
    return () => {
      isLeft = true
    }
  }, [source, typed])
  return paths
}
