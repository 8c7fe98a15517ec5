import { type Meta, noWorkdir, type Sessions } from '@holdfast/protocol'
import { useEffect, useMemo, useState } from 'react'
import { attempt, useServer } from '../models/server-context.ts'

/** Returns the folders of sessions, the latest first, each once. */
export const foldersOf = (sessions: readonly Meta[]): readonly string[] => [
  ...new Set(
    sessions
      .toSorted((one, other) =>
        (other.lastMessageAt ?? other.createdAt).localeCompare(one.lastMessageAt ?? one.createdAt),
      )
      .map(({ workspace }) => workspace)
      .filter((workspace) => workspace !== noWorkdir),
  ),
]

/** The folders of the newest sessions; null until they are loaded. They do not depend on what is searched for. */
export function useRecentFolders(sessions: Sessions): readonly string[] | null {
  const [folders, setFolders] = useState<readonly string[] | null>(null)
  useEffect(() => {
    let isLeft = false
    void sessions.list({ limit: 100 }).then((answer) => {
      if (!isLeft) setFolders(answer.ok ? foldersOf(answer.value.sessions) : [])
    })
    return () => {
      isLeft = true
    }
  }, [sessions])
  return folders
}

/** Returns the folder that a session gets if it names none; null until it is known, and where this login may not ask. */
export function useServerFolder(isWanted: boolean): string | null {
  const { holdfast } = useServer()
  const [folder, setFolder] = useState<string | null>(null)
  useEffect(() => {
    if (!isWanted) return
    let isLeft = false
    void attempt(() => holdfast.completeFolder('')).then((answer) => {
      const path = answer.ok ? answer.value.paths[0]?.path : undefined
      if (!isLeft && path !== undefined) setFolder(withoutSlash(path))
    })
    return () => {
      isLeft = true
    }
  }, [holdfast, isWanted])
  return folder
}

const suggestionsMax = 12

/** Returns whether a text may be the beginning of an absolute path, on any system. */
export const isPathBegun = (text: string): boolean => /^(\/|[A-Za-z]:[\\/])/.test(text)

/** Returns a path without slashes at its end; the root stays. */
const withoutSlash = (path: string): string => path.replace(/(?<=^[\\/]|[^\\/])[\\/]+$/, '')

/** Returns whether two texts name the same folder: one may end in a slash. */
export const isSameFolder = (one: string, other: string): boolean => withoutSlash(one) === withoutSlash(other.trim())

/** Returns what to offer for a typed folder: recent ones that have the text in them, then folders on the disk of the server. */
export function useFolderSuggestions(typed: string, recent: readonly string[]): readonly string[] {
  const { holdfast } = useServer()
  const [found, setFound] = useState<readonly string[]>([])
  useEffect(() => {
    let isLeft = false
    if (!isPathBegun(typed)) return setFound([])
    void attempt(() => holdfast.completeFolder(typed)).then((answer) => {
      if (!isLeft) setFound(answer.ok ? answer.value.paths.map(({ path }) => path) : [])
    })
    return () => {
      isLeft = true
    }
  }, [holdfast, typed])
  return useMemo(() => {
    const known = recent.filter((folder) => folder.includes(typed))
    return [...new Set([...known, ...found])].filter((path) => !isSameFolder(path, typed)).slice(0, suggestionsMax)
  }, [typed, recent, found])
}
