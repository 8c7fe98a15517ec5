import { parseAbsoluteFolder, ToolList, type ToolLister } from '@holdfast/protocol'
import { type Http, parseAnswer, queryOf } from '../http/http.ts'

/** The tools of the runtime behind a server. */
export const createRemoteTools = (wire: Http): ToolLister => ({
  async list(of) {
    if (of.session !== undefined) {
      const answer = await wire.json(`/v1/sessions/${encodeURIComponent(of.session)}/tools`)
      return parseAnswer(answer, 'a list of tools', ToolList)
    }
    const workdir = parseAbsoluteFolder(of.workdir)
    if (!workdir.ok) return workdir
    const answer = await wire.json(`/v1/tools${queryOf({ workdir: workdir.value })}`)
    return parseAnswer(answer, 'a list of tools', ToolList)
  },
})
