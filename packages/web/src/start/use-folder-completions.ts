import type { RemoteHoldfast } from '@holdfast/client'
import { useContext, useMemo } from 'react'
import type { CompletionSource } from '../completion/use-completion.ts'
import { attempt, ServerContext } from '../models/server-context.ts'

type Server = Pick<RemoteHoldfast, 'completeFolder' | 'completeInFolder' | 'commands'>

/** Completes what a session in this folder would know. An empty folder is that of the server. */
export function useFolderCompletions(workdir: string): CompletionSource {
  const holdfast = useContext(ServerContext)?.holdfast
  return useMemo(() => (holdfast ? completionsOf(holdfast, workdir.trim()) : none), [holdfast, workdir])
}

export function completionsOf(holdfast: Server, workdir: string): CompletionSource {
  const folder = async () => (workdir === '' ? ((await holdfast.completeFolder('')).paths[0]?.path ?? '') : workdir)
  return {
    // Commands such as /compact are about a session that has begun.
    commands: () =>
      attempt(async () => (await holdfast.commands(await folder())).filter(({ source }) => source !== 'built-in')),
    paths: (typed) => attempt(async () => holdfast.completeInFolder(await folder(), typed)),
  }
}

const none: CompletionSource = {
  commands: async () => ({ ok: true, value: [] }),
  paths: async () => ({ ok: true, value: { paths: [], isCut: false } }),
}
