import { isAbsolute } from 'node:path'
import { FoundPaths, fault, limits, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, defineRoute, pageLimit, type Route } from '../../define/route.ts'

const typed = {
  text: z.string().max(limits.foundPathTextCharsMax),
  limit: pageLimit(limits.foundPathsMax),
}
const limitDefault = 50

/** The beginning of a path in a folder. */
const pathText = typed.text.refine((text) => !text.includes('\0'), 'a path has no NUL character').default('')

const completeInSession = defineRoute({
  on: 'GET /v1/sessions/:id/complete',
  summary: 'Complete a path of the working directory, for a mention: files and folders, the best first',
  query: z.strictObject({ ...typed, text: pathText }),
  answers: answersJson(FoundPaths),
  refuses: ['not_found', 'bad_workdir', 'outside_workdir', 'workdir_needed', 'bad_config'],
  async handle({ session, input, request }, { sessions, paths }) {
    const handle = await sessions.open(session)
    if (!handle.ok) return handle
    const { text, limit = limitDefault } = input.query
    return paths.inSession(handle.value, { text, limit, signal: request.signal })
  },
})

const completeFolders = defineRoute({
  on: 'GET /v1/folders',
  summary: 'Complete the absolute path of a folder to work in; without a text, return the folder of the server',
  query: z.strictObject({ ...typed, text: typed.text.default('') }),
  answers: answersJson(FoundPaths),
  refuses: ['not_found', 'bad_workdir', 'bad_config'],
  async handle({ input }, { paths }) {
    const { text, limit = limitDefault } = input.query
    if (text === '' || isAbsolute(text)) return paths.folders({ text, limit })
    return refuse(fault('bad_workdir', 'text must be the beginning of an absolute path on the server.', { text }))
  },
})

const completeInFolder = defineRoute({
  on: 'GET /v1/folders/complete',
  summary:
    'Complete a path of a folder, for a mention in the first prompt of a session: files and folders, the best first',
  query: z.strictObject({ ...typed, workdir: z.string().min(1).max(4096), text: pathText }),
  answers: answersJson(FoundPaths),
  refuses: ['not_found', 'bad_workdir', 'outside_workdir', 'bad_config'],
  handle({ input, request }, { paths }) {
    const { workdir, text, limit = limitDefault } = input.query
    return paths.inFolder(workdir, { text, limit, signal: request.signal })
  },
})

export const pathRoutes: readonly Route[] = [completeFolders, completeInFolder]
export const sessionPathRoutes: readonly Route[] = [completeInSession]
