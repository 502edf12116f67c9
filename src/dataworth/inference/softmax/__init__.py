"""Multiclass logistic regression: the mode of its posterior and Laplace's evidence, K·n×n or K·d×K·d.

Rows with repeats are one row with a count mᵢc of each class, nᵢ in all. With F = XΘ, θ_c ~ N(0, C·I) and
pᵢ = softmax(fᵢ),

    Ψ(Θ) = Σᵢ (Σ_c mᵢc fᵢc − nᵢ log Σ_c exp fᵢc) − ½ Σ_c θ_cᵀθ_c/C,   Wᵢ = nᵢ (diag pᵢ − pᵢpᵢᵀ),
    log Z = max Ψ − ½ log det(I + C XᵀWX).

What all classes have in common, Σ_c θ_c, no likelihood sees: the d×d side works in K−1 contrasts of classes,
which are N(0, C·I) too. The n×n side is Rasmussen & Williams 2006, Algorithm 3.3, with weights and in
residual form: one n×n factor a class, and one of their sum.
"""
