import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { routes } from '../routes/routes.ts'
import { openRuntimeServer } from '../testing/runtime-server.ts'

const Document = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), z.looseObject({}))) })

/** Queries of routes that need one. */
const queries: Readonly<Record<string, string>> = { '/v1/search': '?q=go', '/v1/find': '?key=none' }

it('what the server answers to reads fits the schemas of the document', async () => {
  await using test = await openRuntimeServer()
  const headers = { authorization: `Bearer ${test.tokens.admin}` }
  const document = Document.parse(await (await test.call('/v1/openapi.json', { headers })).json())
  const validator = new Ajv2020({ strict: false, validateFormats: false })
  validator.addSchema(document, 'api')
  const prompt = '{"type":"sendPrompt","content":"go"}'
  expect((await test.post(`${test.path}/commands`, prompt)).status).toBe(202)

  const checked: string[] = []
  for (const { method, path, answers } of routes) {
    const isFree = method === 'GET' && !/:(?!id)/.test(path)
    if (!isFree || answers.mediaType !== 'application/json') continue
    const response = await test.call(`${path.replace(':id', test.runtime.handle.id)}${queries[path] ?? ''}`, {
      headers,
    })
    const key = path
      .replaceAll(/:(\w+)/g, '{$1}')
      .replaceAll('~', '~0')
      .replaceAll('/', '~1')
    const place = `api#/paths/${encodeURIComponent(key)}/get/responses/${response.status}`
    const ref = response.ok ? `${place}/content/application~1json/schema` : null
    if (!ref) continue // its refusals are checked elsewhere
    const validate = validator.compile({ $ref: ref })
    validate(await response.json())
    expect([path, validate.errors]).toEqual([path, null])
    checked.push(path)
  }
  expect(checked).toContain('/v1/sessions/:id/messages')
  expect(checked.length).toBeGreaterThan(25)
})
