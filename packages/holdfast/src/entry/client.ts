export * from '@holdfast/client'
