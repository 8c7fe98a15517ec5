import { type FaultCode, faultStatus } from '@holdfast/protocol'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { digits } from '../define/route.ts'
import { routes } from '../routes/routes.ts'
import { openTestServer } from '../testing/test-server.ts'
import { describeApi } from './describe-api.ts'

const Named = z.object({ name: z.string(), in: z.string() })
const Operation = z.object({
  operationId: z.string(),
  security: z.array(z.record(z.string(), z.unknown())),
  parameters: z.array(z.union([Named, z.object({ $ref: z.string() })])),
  requestBody: z.object({ content: z.record(z.string(), z.unknown()) }).optional(),
  responses: z.record(z.string(), z.looseObject({ $ref: z.string().optional() })),
})
const Described = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.looseObject({
    schemas: z.record(z.string(), z.unknown()),
    responses: z.record(z.string(), z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })) })),
  }),
})
const FaultAnswer = z.object({
  properties: z.object({
    error: z.object({ properties: z.object({ code: z.object({ enum: z.array(z.string()) }) }) }),
  }),
})

/** Reads the document as a client gets it. */
async function readDocument() {
  await using test = await openTestServer()
  const text = await (await test.call('/v1/openapi.json')).text()
  const api = Described.parse(JSON.parse(text))
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  return { text, api, operations }
}

const keyOf = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}')

describe('the OpenAPI document', () => {
  it('is valid, as an independent validator says', async () => {
    const { text } = await readDocument()
    const result = await new Validator().validate(JSON.parse(text))
    expect([result.errors, result.valid]).toEqual([undefined, true])
  })

  it('has exactly the routes that the server answers', async () => {
    const { operations } = await readDocument()
    const listed = operations.map(({ method, path }) => `${method} ${path}`)
    expect(listed.toSorted()).toEqual(routes.map(({ method, path }) => `${method} ${keyOf(path)}`).sort())
    await using test = await openTestServer()
    for (const { method, path, operation } of operations) {
      const url = `${test.server.url}${path.replaceAll(/\{\w+\}/g, 'x')}`
      const { status } = await fetch(url, { method, redirect: 'manual', headers: { 'x-forwarded-for': path } })
      const isOpen = operation.security.length === 0
      expect([method, path, status === 401 || isOpen, status === 404 || status === 405]).toEqual([
        ...[method, path, true, false],
      ])
    }
  })

  it('names every parameter, body, answer and code of each route', async () => {
    const { api, operations } = await readDocument()
    for (const { method, path, operation } of operations) {
      const route = routes.find((one) => one.method === method && keyOf(one.path) === path)
      if (!route) throw new Error(`${method} ${path} is no route`)
      const inDocument = operation.parameters.flatMap((one) => ('name' in one ? [`${one.in} ${one.name}`] : []))
      const shapeOf = (schema: z.ZodType) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : [])
      expect(inDocument.sort()).toEqual(
        [
          ...[...route.path.matchAll(/:(\w+)/g)].map(([, name]) => `path ${name}`),
          ...shapeOf(route.querySchema).map((name) => `query ${name}`),
          ...shapeOf(route.headerSchema).map((name) => `header ${name}`),
        ].sort(),
      )
      const bodies = Object.keys(operation.requestBody?.content ?? {})
      const body = route.takesBytes ? ['application/octet-stream'] : route.bodySchema ? ['application/json'] : []
      expect([path, bodies]).toEqual([path, body])
      expect(Object.keys(operation.responses)).toContain(String(route.answers.status))
      const codes = Object.entries(operation.responses).flatMap(([status, { $ref }]) => {
        const answer = api.components.responses[$ref?.replace('#/components/responses/', '') ?? '']
        if (!answer) return []
        const known = FaultAnswer.parse(answer.content['application/json']?.schema).properties.error.properties.code
        return known.enum.map((code) => ({ code, status: Number(status) }))
      })
      expect(codes.map(({ code }) => code).sort()).toEqual([...route.faults].sort())
      for (const { code, status } of codes) expect(status).toBe(faultStatus[code as FaultCode])
    }
  })

  it('describes whole numbers of queries and headers as integers with their bounds', async () => {
    const { text } = await readDocument()
    const Parameters = z.array(z.object({ name: z.string().optional(), schema: z.looseObject({}).optional() }))
    const Paths = z.record(z.string(), z.record(z.string(), z.object({ parameters: Parameters })))
    const paths = Paths.parse(JSON.parse(text).paths)
    const schemaOf = (path: string, name: string) =>
      paths[path]?.['get']?.parameters.find((one) => one.name === name)?.schema
    expect(schemaOf('/v1/sessions', 'limit')).toMatchObject({ type: 'integer', minimum: 1, maximum: 1000 })
    const numbers = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ parameters }) => parameters)
      .filter(({ name = '' }) => ['limit', 'after', 'before', 'days', 'last-event-id', 'turn', 'line'].includes(name))
    expect(numbers.length).toBeGreaterThan(10)
    for (const { name, schema } of numbers) {
      const isInteger = schema?.['type'] === 'integer' || typeof schema?.['$ref'] === 'string'
      expect([name, schema, isInteger]).toEqual([name, schema, true])
    }
    expect(text).not.toContain(JSON.stringify(digits.source))
  })

  it('gives every operation its own id, and tells that only some are open', async () => {
    const { operations } = await readDocument()
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toContain('postSessionAttachmentClaim')
    const open = operations.filter(({ operation }) => operation.security.length === 0)
    expect(open.map(({ method, path }) => `${method} ${path}`)).toEqual(
      routes.flatMap(({ access, method, path }) => (access.role === 'open' ? [`${method} ${path}`] : [])),
    )
  })

  it('has a schema for each command, frame and record, under the names of the protocol', async () => {
    const { api } = await readDocument()
    const names = Object.keys(api.components.schemas)
    for (const name of ['Meta', 'Message', 'Frame', 'NewsFrame', 'Event', 'SendPromptCommand', 'SeedMessagesCommand'])
      expect(names).toContain(name)
    expect(JSON.stringify(api.components.schemas['SendPromptCommand'])).toContain('commandId')
  })

  it('is built with other work between two routes', async () => {
    let slices = 0
    await describeApi(routes, '1.2.3', async () => {
      slices += 1
    })
    expect(slices).toBe(routes.length)
  })
})
