import { z } from 'zod'
import { type Fault, type FaultCode, faultStatus } from './fault.ts'

/** Parses a fault from outside. Apart from fault.ts, which must load without zod. */
export const FaultSchema = z.object({
  code: z.enum(Object.keys(faultStatus) as [FaultCode, ...FaultCode[]]), // TypeScript widens the keys to string
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
}) satisfies z.ZodType<Fault>
