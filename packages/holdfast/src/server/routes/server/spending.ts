import { Cap, CapScope, Day, ListedCap, Spending } from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, defineRoute, type Route } from '../../define/route.ts'

const readSpending = defineRoute({
  on: 'GET /v1/spending',
  summary: 'Tell what was spent on a day, by token and workspace, and list the caps',
  query: z.strictObject({ day: Day.optional() }),
  answers: answersJson(Spending),
  refuses: ['not_found'],
  handle: async ({ input }, { spending }) => spending.read(input.query),
})

const setCap = defineRoute({
  on: 'POST /v1/caps',
  summary: 'Set the cap for everything, a token or a workspace; it replaces the former one',
  body: Cap,
  answers: answersJson(ListedCap),
  refuses: ['not_found', 'bad_id'],
  handle: async ({ input }, { spending }) => spending.set(input.body),
})

const removeCap = defineRoute({
  on: 'DELETE /v1/caps',
  summary: 'Remove the cap for everything, a token or a workspace',
  query: z.strictObject({ ...CapScope.shape }),
  answers: answersJson(ListedCap),
  refuses: ['not_found', 'bad_id', 'bad_workdir'],
  handle: async ({ input }, { spending }) => spending.remove(input.query),
})

export const spendingRoutes: readonly Route[] = [readSpending, setCap, removeCap]
