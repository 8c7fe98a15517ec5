import { FoundPaths, type Result } from '@holdfast/protocol'
import { type Http, parseAnswer, queryOf } from '../http/http.ts'

const what = 'a completion'

/** Completes the absolute path of a folder on the server. */
export async function completeFolder(wire: Http, text: string): Promise<Result<FoundPaths>> {
  return parseAnswer(await wire.json(`/v1/folders${queryOf({ text })}`), what, FoundPaths)
}

/** Completes a path of a folder on the server. */
export async function completeInFolder(wire: Http, workdir: string, text: string): Promise<Result<FoundPaths>> {
  return parseAnswer(await wire.json(`/v1/folders/complete${queryOf({ workdir, text })}`), what, FoundPaths)
}

/** Completes a path of the working directory of a session. */
export async function completePath(wire: Http, session: string, text: string): Promise<Result<FoundPaths>> {
  const path = `/v1/sessions/${encodeURIComponent(session)}/complete${queryOf({ text })}`
  return parseAnswer(await wire.json(path), what, FoundPaths)
}
