import { ModelList, ok, type Result } from '@holdfast/protocol'
import { type Ask, type Http, notUnderstood } from './http.ts'

/** What a server says can be called, and why the rest cannot. */
export async function readModels(wire: Http, path = '/v1/models', ask?: Ask): Promise<Result<ModelList>> {
  const answer = await wire.json(path, ask)
  if (!answer.ok) return answer
  const list = ModelList.safeParse(answer.value)
  return list.success ? ok(list.data) : notUnderstood('a list of models')
}
